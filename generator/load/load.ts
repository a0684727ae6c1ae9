/** Disk -> a release read and resolved. What is wrong with it is a list of findings; judging them is for `check`. */
import type { Finding } from "../finding.js";
import { pointer } from "../finding.js";
import { Closure, type SchemaFile } from "./closure.js";
import { releaseDigest } from "./digest.js";
import { type OpenOptions, openRelease, type ReleaseFiles } from "./files.js";
import { type Manifest, wordOf } from "./manifest.js";
import { readJson } from "./read-json.js";
import { isMap, type JsonMap, type SchemaJson } from "./walk.js";

export interface LoadedRelease {
  source: ReleaseFiles;
  /** Protocol word; empty when the manifest does not say. */
  word: string;
  version: string;
  /** Keys sorted. A `Manifest` only once `checkManifest` has found nothing. */
  manifest: JsonMap;
  /** Names of all tools, in a part of a release too: what one is called in code hangs on the others. */
  toolNames: readonly string[];
  /** Every schema file the tools reach, by path, sorted. */
  schemas: Map<string, SchemaFile>;
  /** Every schema file there is, events among them, which no tool reaches. */
  documents: ReadonlyMap<string, SchemaFile>;
  /** SHA-256 over the manifest and every schema in their normal form, hex: the same release in any package has the same. */
  digest: string;
  /** The `$id` of each schema file that has one, as written. */
  ids: ReadonlyMap<string, string>;
  /** Faults of the manifest file itself, and of paths it names. Faults of schema files stand with the files. */
  findings: Finding[];
  /** Paths a tool reaches from its own schemas. */
  reach(tool: string): Set<string>;
  /** Paths that schema files reach, themselves included. */
  reachFrom(paths: readonly string[]): Set<string>;
  /** Paths that schemas of events reach, themselves included; none in a part of a release, which is of tools. */
  reachOfEvents(paths: Iterable<string>): Set<string>;
}

/** Schema paths a tool's manifest entry names, with where each stands. */
const pathsOf = (tool: unknown): [at: (string | number)[], path: string][] => {
  if (!isMap(tool)) return [];
  const listed = Array.isArray(tool.async_response_schemas) ? tool.async_response_schemas : [];
  const named: [(string | number)[], unknown][] = [
    [["request_schema"], tool.request_schema],
    [["response_schema"], tool.response_schema],
    ...listed.map((path, index): [(string | number)[], unknown] => [["async_response_schemas", index], path]),
  ];
  return named.filter((row): row is [(string | number)[], string] => typeof row[1] === "string");
};

const missing = (tool: string, at: (string | number)[], path: string): Finding => ({
  level: "error",
  rule: "schema-missing",
  file: "manifest.json",
  pointer: pointer("tools", tool, ...at),
  message: `${JSON.stringify(path)} is not in the release`,
  remedy: "Add the file, correct the path, or generate with --partial to leave the tool out.",
});

/** `./a.json` and `a.json` are one file: schemas are keyed by path, so it is spelled one way. */
const normal = (path: SchemaJson): SchemaJson =>
  typeof path === "string" ? path.replace(/^(\.\/)+/, "").replace(/^\//, "") : path;

function normalisePaths(tool: JsonMap): void {
  for (const key of ["request_schema", "response_schema"]) if (tool[key] !== undefined) tool[key] = normal(tool[key]);
  if (Array.isArray(tool.async_response_schemas)) tool.async_response_schemas = tool.async_response_schemas.map(normal);
}

/** The manifest as far as it can be read, with what is wrong with it. */
function readManifest(source: ReleaseFiles): Pick<LoadedRelease, "manifest" | "word" | "version" | "findings"> {
  const { value, findings } = readJson(source.read("manifest.json")!, "manifest.json");
  const manifest = isMap(value) ? value : {};
  const { word, findings: wordless } = isMap(value) ? wordOf(manifest) : { word: undefined, findings: [] };
  findings.push(...wordless);
  if (!isMap(value) && findings.length === 0) {
    findings.push({
      level: "error",
      rule: "manifest-schema",
      file: "manifest.json",
      pointer: "",
      message: "a manifest is a JSON object",
      remedy: "Write the manifest of a release here.",
    });
  }
  const version = word === undefined ? "" : String(manifest[`${word}_version`]);
  return { manifest, word: word ?? "", version, findings };
}

/**
 * Which release a path holds, by its manifest alone.
 * @throws AdbindError release_unreadable, release_ambiguous
 */
export async function identifyRelease(label: string): Promise<{ word: string; version: string }> {
  const { word, version } = readManifest(await openRelease(label));
  return { word, version };
}

const byPath = ([a]: [string, SchemaFile], [b]: [string, SchemaFile]): number => (a < b ? -1 : 1);

/**
 * Reads a release: its manifest, its schemas, and the closure of `$ref`s from every tool's.
 * @param label folder, manifest.json or archive
 * @throws AdbindError release_unreadable when there is no manifest to read, release_ambiguous when there are several
 */
export async function loadRelease(label: string, options: OpenOptions = {}): Promise<LoadedRelease> {
  const source = await openRelease(label, options);
  const { manifest, word, version, findings } = readManifest(source);
  const closure = new Closure(source);
  const roots = new Map<string, string[]>();
  for (const [tool, entry] of Object.entries(isMap(manifest.tools) ? manifest.tools : {})) {
    if (isMap(entry)) normalisePaths(entry);
    const named = pathsOf(entry);
    const paths = named.map(([, path]) => path);
    roots.set(tool, paths);
    for (const [at, path] of named) if (closure.add(path) === undefined) findings.push(missing(tool, at, path));
  }
  const reached = closure.reach([...roots.values()].flat());
  closure.addAll();
  const files = new Map([...closure.files].sort(byPath));
  return {
    source,
    word,
    version,
    manifest,
    toolNames: [...roots.keys()],
    schemas: new Map([...files].filter(([path]) => reached.has(path))),
    documents: files,
    digest: releaseDigest({ manifest, files, prefixes: closure.prefixes, read: (file) => source.read(file) }),
    ids: closure.ids,
    findings,
    reach: (tool) => closure.reach(roots.get(tool) ?? []),
    reachFrom: (paths) => closure.reach(paths.filter((path) => closure.files.has(path))),
    reachOfEvents: (paths) => closure.reach(paths),
  };
}

/** The manifest, once it is known to be one. */
export const checkedManifest = (release: LoadedRelease): Manifest => release.manifest as unknown as Manifest;
