/** Disk -> a release read and resolved. What is wrong with it is a list of findings; judging them is for `check`. */
import { createHash } from "node:crypto";
import type { Finding } from "../finding.js";
import { pointer } from "../finding.js";
import { Closure, type SchemaFile } from "./closure.js";
import { openRelease, type ReleaseFiles } from "./files.js";
import { type Manifest, wordOf } from "./manifest.js";
import { readJson } from "./read-json.js";
import { isMap, type Json, type JsonMap } from "./walk.js";

export interface LoadedRelease {
  source: ReleaseFiles;
  /** Protocol word; empty when the manifest does not say. */
  word: string;
  version: string;
  /** Keys sorted. A `Manifest` only once `checkManifest` has found nothing. */
  manifest: JsonMap;
  /** Every schema file the tools reach, by path, sorted. */
  schemas: Map<string, SchemaFile>;
  /** SHA-256 over the manifest, its schema and every schema reached, hex; the order of keys and files does not count. */
  digest: string;
  /** Faults of the manifest file itself, and of paths it names. Faults of schema files stand with the files. */
  findings: Finding[];
  /** Paths a tool reaches from its own schemas. */
  reach(tool: string): Set<string>;
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
const normal = (path: Json): Json =>
  typeof path === "string" ? path.replace(/^(\.\/)+/, "").replace(/^\//, "") : path;

function normalisePaths(tool: JsonMap): void {
  for (const key of ["request_schema", "response_schema"]) if (tool[key] !== undefined) tool[key] = normal(tool[key]);
  if (Array.isArray(tool.async_response_schemas)) tool.async_response_schemas = tool.async_response_schemas.map(normal);
}

/**
 * Reads a release: its manifest, and the closure of `$ref`s from every tool's schemas.
 * @param label folder or .tgz
 * @throws AdbindError release_unreadable when there is no manifest to read
 */
export async function loadRelease(label: string): Promise<LoadedRelease> {
  const source = await openRelease(label);
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

  const closure = new Closure(source);
  const roots = new Map<string, string[]>();
  for (const [tool, entry] of Object.entries(isMap(manifest.tools) ? manifest.tools : {})) {
    if (isMap(entry)) normalisePaths(entry);
    const named = pathsOf(entry);
    const paths = named.map(([, path]) => path);
    roots.set(tool, paths);
    for (const [at, path] of named) if (closure.add(path) === undefined) findings.push(missing(tool, at, path));
  }
  const schemas = new Map([...closure.files].sort(([a], [b]) => (a < b ? -1 : 1)));
  const version = word === undefined ? "" : String(manifest[`${word}_version`]);
  return {
    source,
    word: word ?? "",
    version,
    manifest,
    schemas,
    digest: digestOf(source, manifest, schemas),
    findings,
    reach: (tool) => closure.reach(roots.get(tool) ?? []),
  };
}

function digestOf(source: ReleaseFiles, manifest: JsonMap, schemas: Map<string, SchemaFile>): string {
  const meta = source.read("manifest.schema.json");
  const hash = createHash("sha256");
  const part = (name: string, text: string): void => void hash.update(`${name}\0${text.length}\0${text}\0`);
  part("manifest.json", JSON.stringify(manifest));
  if (meta !== undefined)
    part("manifest.schema.json", JSON.stringify(readJson(meta, "").value ?? meta.toString("latin1")));
  // A file that cannot be read is part of what the release is, or one turned to garbage would pass for unchanged.
  for (const [path, { schema, findings }] of schemas)
    part(path, JSON.stringify([schema, findings.map(({ message }) => message)]));
  return hash.digest("hex");
}

/** The manifest, once it is known to be one. */
export const checkedManifest = (release: LoadedRelease): Manifest => release.manifest as unknown as Manifest;
