/** What a tool costs in the list that a model is given of an agent's tools: bytes of its entry, in several forms. */
import type { LoadedRelease } from "../load/load.js";
import { projectionsOf } from "../load/projections.js";
import { isMap, type JsonMap, mapSchema, type Schema, type SchemaJson } from "../load/walk.js";

/** Bytes of an entry of a tool list: its name, its summary and its schemas as compact JSON, in UTF-8. */
export interface ListingCost {
  /** The request's schema with all it refers to, with every description of the release. */
  readonly described: number;
  /** The same without annotations: what validators need and no more. */
  readonly bare: number;
  /** The answer's schema, with every description; lists may leave it out. */
  readonly answer: number;
  /** The schemas of the copies made for tool lists, by the copy's folder; a copy need not have every tool. */
  readonly projections: Readonly<Record<string, number>>;
}

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const silent = (key: string): boolean =>
  [
    "title",
    "description",
    "examples",
    "default",
    "$comment",
    "deprecated",
    "enumDescriptions",
    "enumMetadata",
  ].includes(key) || key.startsWith("x-");

/** One schema that refers to nothing outside itself: what it reaches stands below `$defs`. */
function bundled(release: LoadedRelease, root: string, keep: (key: string) => boolean): JsonMap {
  const reached = new Set([root]);
  for (const path of reached) for (const next of release.documents.get(path)?.uses ?? []) reached.add(next);
  const names = new Map([...reached].sort().map((path, index) => [path, `${index}`] as const));
  const local = (ref: string): string => {
    const [path = "", pointer = ""] = ref.slice(1).split("#");
    return path === root ? `#${pointer}` : `#/$defs/${names.get(path) ?? path}${pointer}`;
  };
  const shortened = (path: string): Schema =>
    mapSchema(release.documents.get(path)?.schema ?? true, (schema) => {
      const kept = Object.fromEntries(Object.entries(schema).filter(([key]) => keep(key)));
      return typeof kept.$ref === "string" ? { ...kept, $ref: local(kept.$ref) } : kept;
    });
  const own = shortened(root);
  const others = [...reached].filter((path) => path !== root).sort();
  const definitions = Object.fromEntries(
    others.map((path): [string, SchemaJson] => [names.get(path)!, shortened(path)]),
  );
  return { ...(isMap(own) ? own : {}), ...(others.length > 0 && { $defs: definitions }) };
}

function projectedBytes(release: LoadedRelease): Map<string, Record<string, number>> {
  const found = new Map<string, Record<string, number>>();
  for (const { path, manifest } of projectionsOf(release.source)) {
    const folder = path.replace(/\/manifest\.json$/, "");
    for (const [tool, entry] of Object.entries(isMap(manifest.tools) ? manifest.tools : {})) {
      if (!isMap(entry)) continue;
      const files = [entry.inputSchema, entry.outputSchema].filter((file) => typeof file === "string");
      const texts = files.map((file) => release.source.read(`${folder}/${file}`));
      const sizes = texts.map((text) => (text === undefined ? 0 : compact(text)));
      const row = found.get(tool) ?? {};
      found.set(tool, row);
      row[folder] = sizes.reduce((sum, one) => sum + one, 0);
    }
  }
  return found;
}

/** Bytes of a JSON file without its blanks; as it stands where it is none. */
function compact(text: Buffer): number {
  try {
    return bytes(JSON.parse(text.toString("utf8")));
  } catch {
    return text.length;
  }
}

/** What a listing costs, by the tool's name. */
export function listingCosts(
  release: LoadedRelease,
  tools: readonly {
    readonly name: string;
    readonly summary: string;
    readonly request: string;
    readonly response: string;
  }[],
): ReadonlyMap<string, ListingCost> {
  const projected = projectedBytes(release);
  return new Map(
    tools.map(({ name, summary, request, response }): [string, ListingCost] => {
      const head = { name, description: summary };
      const everything = (): boolean => true;
      const bare = (key: string): boolean => !silent(key);
      return [
        name,
        {
          described: bytes({ ...head, inputSchema: bundled(release, request, everything) }),
          bare: bytes({ ...head, inputSchema: bundled(release, request, bare) }),
          answer: bytes(bundled(release, response, everything)),
          projections: projected.get(name) ?? {},
        },
      ];
    }),
  );
}
