/** Reads our own releases the plain way, so that these tests do not lean on the generator they feed. */
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

export const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
export const versions = ["3.0.0", "3.1.0"] as const;
type Version = (typeof versions)[number];

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
export type Json = any;

interface Entry {
  protocol: string;
  mutating: boolean;
  request_schema: string;
  response_schema: string;
  async_response_schemas: string[];
  specialisms?: string[];
  added_in?: string;
  deprecated_in?: string;
}
export interface ManifestFile {
  $schema: string;
  proto_version: string;
  generated_at: string;
  tools: Record<string, Entry>;
  error_codes: Record<string, { recovery: string; description: string; suggestion: string; added_in?: string }>;
  error_code_policy: { default_unknown_recovery: string; note: string };
  specialisms: Record<string, { protocol: string; entry_point_tools: string[]; exercised_tools: string[] }>;
}

export interface ReleaseFiles {
  version: string;
  manifest: ManifestFile;
  manifestSchema: Json;
  /** Every schema but the manifest's, by path. */
  schemas: Map<string, Json>;
}

const readJson = (file: string): Json => JSON.parse(readFileSync(file, "utf8"));

/** @param folder a release's folder, absolute or relative to the repository */
export function readRelease(folder: string): ReleaseFiles {
  const home = path.resolve(root, folder);
  const schemas = new Map<string, Json>();
  for (const file of globSync("*/**/*.json", { cwd: home }).sort()) {
    schemas.set(file.replaceAll(path.sep, "/"), readJson(path.join(home, file)));
  }
  return {
    version: path.basename(home),
    manifest: readJson(path.join(home, "manifest.json")),
    manifestSchema: readJson(path.join(home, "manifest.schema.json")),
    schemas,
  };
}

const cache = new Map<Version, ReleaseFiles>();

/** One of our releases, read once. */
export function ours(version: Version): ReleaseFiles {
  const known = cache.get(version);
  if (known !== undefined) return known;
  const release = readRelease(`manifests/${version}`);
  cache.set(version, release);
  return release;
}

/** Validators of a release, by path; ids must be unique and references whole, or this throws. */
export function validatorsOf(release: ReleaseFiles): (file: string) => ValidateFunction {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  for (const schema of release.schemas.values()) ajv.addSchema(schema);
  return (file) => {
    const validate = ajv.getSchema(release.schemas.get(file)?.$id);
    if (validate === undefined) throw new Error(`no schema ${file} in ${release.version}`);
    return validate;
  };
}

/** Every object within a JSON value, with its pointer. */
export function* objectsIn(value: Json, pointer = ""): Generator<[pointer: string, object: Json]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [pointer, value];
  for (const [key, child] of Object.entries(value)) {
    if (key !== "examples") yield* objectsIn(child, `${pointer}/${key}`);
  }
}

/** The property schemas a schema declares at its root, branches and `allOf` included, references followed. */
export function rootProperties(release: ReleaseFiles, schema: Json): Record<string, Json> {
  const parts = ["allOf", "oneOf", "anyOf"].flatMap((key) => schema[key] ?? []);
  const referred = schema.$ref === undefined ? {} : rootProperties(release, resolve(release, schema.$ref));
  return Object.assign({}, referred, schema.properties, ...parts.map((part: Json) => rootProperties(release, part)));
}

/** Fields that every instance has: `required`, also through `allOf` and `$ref`. */
export function rootRequired(release: ReleaseFiles, schema: Json): string[] {
  const parts = (schema.allOf ?? []).flatMap((part: Json) => rootRequired(release, part));
  const referred = schema.$ref === undefined ? [] : rootRequired(release, resolve(release, schema.$ref));
  return [...new Set<string>([...(schema.required ?? []), ...parts, ...referred])].sort();
}

function resolve(release: ReleaseFiles, ref: string): Json {
  const file = ref.replace(`/schemas/${release.version}/`, "");
  const schema = release.schemas.get(file);
  if (schema === undefined) throw new Error(`dangling ${ref}`);
  return schema;
}

/** Folder of published releases, payloads and vectors, or undefined when it is not at hand. */
export function corpus(): string | undefined {
  const folder = path.resolve(root, process.env.ADBIND_CORPUS ?? "../shared");
  return existsSync(path.join(folder, "releases")) ? folder : undefined;
}
