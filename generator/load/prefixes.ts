/** What a release puts before its paths: in the ids of its files, or, where they have none, in its references. */
import type { ReadJson } from "./read-json.js";
import { isMap, type SchemaJson } from "./walk.js";

/** Base for ids that are paths; it never leaves the loader. */
export const ORIGIN = "https://release.invalid";

/** An id as `/path`, or whole when it has an origin of its own. */
export const absolute = (uri: string, base: string): string | undefined => {
  const from = base.startsWith("/") ? ORIGIN + base : base;
  if (!URL.canParse(uri, from)) return undefined;
  const href = new URL(uri, from).href.replace(/#$/, "");
  return href.startsWith(ORIGIN) ? href.slice(ORIGIN.length) : href;
};

/** Calls `visit` on every reference in a value, wherever it stands: this only counts them. */
function eachRef(value: SchemaJson | undefined, visit: (uri: string) => void): void {
  if (Array.isArray(value)) {
    for (const one of value) eachRef(one, visit);
  } else if (isMap(value)) {
    for (const key of Object.keys(value)) {
      const held = value[key]!;
      if (key === "$ref" && typeof held === "string") visit(held);
      else if (typeof held === "object") eachRef(held, visit);
    }
  }
}

/** `https://host`, or nothing for a path: the two may stand side by side in one release. */
const originOf = (uri: string): string => /^[a-z][a-z0-9+.-]*:\/\/[^/]*/i.exec(uri)?.[0] ?? "";

/** Where files have no ids, what most references of an origin have before a path that is there. */
function votedPrefixes(files: ReadonlyMap<string, ReadJson>): string[] {
  const uris = new Set<string>();
  for (const { value } of files.values())
    eachRef(value, (ref) => {
      const uri = ref.replace(/#.*$/, "");
      if (uri.startsWith("/") || originOf(uri) !== "") uris.add(uri);
    });
  const votes = new Map<string, Map<string, number>>();
  for (const uri of uris) {
    const origin = originOf(uri);
    const counts = votes.get(origin) ?? new Map<string, number>();
    votes.set(origin, counts);
    for (let slash = uri.indexOf("/", origin.length); slash >= 0; slash = uri.indexOf("/", slash + 1)) {
      const prefix = uri.slice(0, slash + 1);
      if (files.has(uri.slice(slash + 1))) counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  }
  // Of two with as many votes the shorter one: it leaves the longer path.
  const winners = [...votes.values()].map(
    (counts) => [...counts].sort(([a, x], [b, y]) => y - x || a.length - b.length || (a < b ? -1 : 1))[0]?.[0],
  );
  return winners.filter((prefix) => prefix !== undefined).sort();
}

/**
 * What stands before paths in a release's absolute references, e.g. `/schemas/3.1.0/`.
 * @param files by path
 * @param ids the `$id` of each file that has one
 */
export function prefixesOf(files: ReadonlyMap<string, ReadJson>, ids: ReadonlyMap<string, string>): string[] {
  const stated = new Set<string>();
  for (const [path, id] of ids) {
    const own = absolute(id, ORIGIN);
    if (own?.endsWith(`/${path}`)) stated.add(own.slice(0, -path.length));
  }
  // Where ids are the rule they say it all, and the walk over every reference is spared.
  if (stated.size > 0 && ids.size * 2 >= files.size) return [...stated].sort();
  return [...new Set([...stated, ...votedPrefixes(files)])].sort();
}
