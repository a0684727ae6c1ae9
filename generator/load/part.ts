/** A part of a release, as a release: some tools, with the specialisms that are whole without the others. */
import { AdbindError } from "../../runtime/errors.js";
import type { LoadedRelease } from "./load.js";
import { isMap, type JsonMap, type SchemaJson } from "./walk.js";

/** What a part is made of; all that is named is in it. An empty list names nothing. */
export interface ReleasePart {
  /** Names of tools. */
  readonly tools?: readonly string[];
  /** Protocol surfaces: every tool of them. */
  readonly protocols?: readonly string[];
  /** Ids of specialisms, in snake or kebab case: every tool they need. */
  readonly specialisms?: readonly string[];
}

/** A specialism's id as a release spells it; agents and people write it in snake or in kebab case. */
export function specialismIn(ids: Iterable<string>, given: string): string | undefined {
  const plain = (id: string): string => id.replaceAll("-", "_");
  const known = [...ids];
  return known.find((id) => id === given) ?? known.find((id) => plain(id) === plain(given));
}

const kinds = ["tools", "protocols", "specialisms"] as const;

/** Nothing is named, so that the whole release is meant. */
const isWhole = (part: ReleasePart): boolean => kinds.every((kind) => (part[kind] ?? []).length === 0);

/** A part as flags to be compared with those of another run: the same part gives the same, in whatever order it was named. */
export function partFlags(part: ReleasePart): Record<string, boolean> {
  const one = { tools: "tool", protocols: "protocol", specialisms: "specialism" };
  const names = kinds.flatMap((kind) =>
    (part[kind] ?? []).map((name) => `${one[kind]} ${kind === "specialisms" ? name.replaceAll("-", "_") : name}`),
  );
  return Object.fromEntries([...new Set(names)].sort().map((name) => [name, true]));
}

const strings = (value: SchemaJson | undefined): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

const mapOf = (value: SchemaJson | undefined): JsonMap => (isMap(value) ? value : {});

const exercised = (specialism: SchemaJson | undefined): string[] => {
  const { entry_point_tools, exercised_tools } = mapOf(specialism);
  return [...strings(entry_point_tools), ...strings(exercised_tools)];
};

/** Tools an agent needs whatever it claims: to say what it is, and to be asked about tasks where there are any. */
function always({ word }: LoadedRelease, tools: JsonMap, needed: ReadonlySet<string>): string[] {
  const isAsync = [...needed].some((name) => strings(mapOf(tools[name]).async_response_schemas).length > 0);
  return ["get_agent_capabilities", `get_${word}_capabilities`, ...(isAsync ? ["get_task_status"] : [])];
}

/** What specialisms need: their tools, those these fall back to with an older peer, and what every agent has. */
function closeOver(release: LoadedRelease, ids: readonly string[], tools: JsonMap): Set<string> {
  const needed = new Set<string>();
  if (ids.length === 0) return needed;
  const specialisms = mapOf(release.manifest.specialisms);
  const pending = ids.flatMap((id) => exercised(specialisms[id]));
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (needed.has(name) || !Object.hasOwn(tools, name)) continue;
    needed.add(name);
    const { tool } = mapOf(mapOf(tools[name]).legacy_fallback);
    if (typeof tool === "string") pending.push(tool);
  }
  for (const name of always(release, tools, needed)) if (Object.hasOwn(tools, name)) needed.add(name);
  return needed;
}

/** A specialism stays when it was asked for, or lacks nothing: one without its tools would promise what is not there. */
function keptSpecialisms(all: JsonMap, tools: JsonMap, kept: ReadonlySet<string>, asked: readonly string[]): JsonMap {
  const stays = ([id, entry]: [string, SchemaJson]): boolean => {
    const needs = exercised(entry).filter((tool) => Object.hasOwn(tools, tool));
    return asked.includes(id) || (needs.length > 0 && needs.every((tool) => kept.has(tool)));
  };
  return Object.fromEntries(Object.entries(all).filter(stays));
}

function partOfManifest(manifest: JsonMap, kept: ReadonlySet<string>, asked: readonly string[]): JsonMap {
  const tools = mapOf(manifest.tools);
  const specialisms = keptSpecialisms(mapOf(manifest.specialisms), tools, kept, asked);
  const narrowed = (entry: SchemaJson): SchemaJson => {
    if (!isMap(entry) || !Array.isArray(entry.specialisms)) return entry;
    const { specialisms: listed, ...rest } = entry;
    const stay = listed.filter((id) => typeof id !== "string" || Object.hasOwn(specialisms, id));
    return stay.length === 0 ? rest : { ...rest, specialisms: stay };
  };
  const keptTools = Object.entries(tools).filter(([name]) => kept.has(name));
  return {
    ...manifest,
    tools: Object.fromEntries(keptTools.map(([name, entry]) => [name, narrowed(entry)])),
    specialisms,
  };
}

/** What was named and a release does not have. */
export interface Unknown {
  /** E.g. `tool get_produts`. */
  what: string;
  /** What might have been meant. */
  instead: string[];
}

export interface PartOfRelease {
  release: LoadedRelease;
  unknown: Unknown[];
  /** Nothing that was named is in the release. */
  empty: boolean;
}

/** As many names as a message may hold and still be read. */
const FEW = 40;
/** As many as are offered of the closest, where there are more. */
const CLOSEST = 5;

const pairsIn = (name: string): Set<string> =>
  new Set([...name].map((letter, index) => letter + (name[index + 1] ?? "")));

/** Names that have most in common with what was given; all of them where there are few. */
function similar(given: string, names: readonly string[]): string[] {
  if (names.length <= FEW) return [...names];
  const pairs = pairsIn(given);
  const likeness = (name: string): number => {
    const own = pairsIn(name);
    const shared = [...own].filter((pair) => pairs.has(pair)).length;
    return shared / (own.size + pairs.size - shared);
  };
  return [...names].sort((a, b) => likeness(b) - likeness(a)).slice(0, CLOSEST);
}

/**
 * Narrows a release to a part of it. The digest stays the whole release's, which is what it is a part of; a manifest that
 * is none stays as it is, for its checks to speak of.
 */
export function partOfRelease(release: LoadedRelease, part: ReleasePart): PartOfRelease {
  const { tools, specialisms } = release.manifest;
  if (isWhole(part) || !isMap(tools) || !isMap(specialisms)) return { release, unknown: [], empty: false };
  const surfaces = [...new Set(Object.values(tools).map((entry) => String(mapOf(entry).protocol)))].sort();
  const ids = new Map((part.specialisms ?? []).map((id) => [id, specialismIn(Object.keys(specialisms), id)]));
  const asked = [...ids.values()].filter((id) => id !== undefined);
  const kept = closeOver(release, asked, tools);
  for (const [name, entry] of Object.entries(tools))
    if (part.tools?.includes(name) || part.protocols?.includes(String(mapOf(entry).protocol))) kept.add(name);
  const lacking = (kind: string, given: readonly string[], names: readonly string[]): Unknown[] =>
    given
      .filter((name) => !names.includes(name))
      .map((name) => ({ what: `${kind} ${name}`, instead: similar(name, names) }));
  const unknown = [
    ...lacking("tool", part.tools ?? [], Object.keys(tools)),
    ...lacking("protocol", part.protocols ?? [], surfaces),
    ...[...ids]
      .filter(([, id]) => id === undefined)
      .flatMap(([id]) => lacking("specialism", [id], Object.keys(specialisms))),
  ];
  return { release: narrow(release, kept, asked), unknown, empty: kept.size === 0 };
}

function narrow(release: LoadedRelease, kept: ReadonlySet<string>, asked: readonly string[]): LoadedRelease {
  const reached = new Set([...kept].flatMap((tool) => [...release.reach(tool)]));
  const isOfPart = (at: string): boolean => !at.startsWith("/tools/") || kept.has(at.split("/")[2]!);
  return {
    ...release,
    manifest: partOfManifest(release.manifest, kept, asked),
    schemas: new Map([...release.schemas].filter(([path]) => reached.has(path))),
    reachOfEvents: () => new Set(),
    findings: release.findings.filter(({ pointer }) => isOfPart(pointer)),
  };
}

/**
 * Refuses what none of the releases has (one that is there in a newer release may be missing in an older one), and a
 * release that has nothing of it.
 * @throws AdbindError usage
 */
export function assertTaken(taken: readonly { source: string; unknown: readonly Unknown[]; empty: boolean }[]): void {
  const [first, ...others] = taken.map(({ unknown }) => unknown);
  const nowhere = (first ?? []).filter(({ what }) => others.every((one) => one.some((other) => other.what === what)));
  if (nowhere.length > 0) {
    const instead = [...new Set(nowhere.flatMap((one) => one.instead))];
    throw new AdbindError("usage", `there is no ${nowhere.map(({ what }) => what).join(", no ")}`, {
      remedy: instead.length === 0 ? "the release's manifest.json has the names" : `give some of ${instead.join(", ")}`,
    });
  }
  const none = taken.find(({ empty }) => empty);
  if (none === undefined) return;
  throw new AdbindError("usage", `the release has none of ${none.unknown.map(({ what }) => what).join(", ")}`, {
    where: none.source,
    remedy: "leave the release out, or name more",
  });
}
