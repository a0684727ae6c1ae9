/**
 * The floor of `bench/generate`: the least a generator on this type compiler has to do. Reads and parses the closure of a
 * release's tools, compiles one root over it once, writes one file. It checks nothing and splits nothing; it must stay as
 * plain as it is, because a slower floor would make adbind look better.
 *
 *     node floor.js <release folder> <output file>
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { compile } from "json-schema-to-typescript";

type Json = Record<string, unknown>;

const [release = "", output = ""] = process.argv.slice(2);

const documents = new Map<string, Json>();

/** Path in the release of what an id or a reference names: the folder that holds the file says how ids begin. */
let prefix = "";

const nameOf = (file: string): string => file.replace(/\.json$/, "").replace(/[^A-Za-z0-9]+/g, "-");

/** `<prefix>core/error.json#/$defs/issue` -> the file, and the same place under the root's definitions. */
function target(ref: string, from: string): { file: string; place: string } {
  const hash = ref.indexOf("#");
  const uri = hash < 0 ? ref : ref.slice(0, hash);
  const file = uri === "" ? from : uri.startsWith(prefix) ? uri.slice(prefix.length) : path.posix.join(from, "..", uri);
  return { file, place: `#/definitions/${nameOf(file)}${hash < 0 ? "" : ref.slice(hash + 1)}` };
}

function read(file: string): void {
  if (documents.has(file)) return;
  const schema = JSON.parse(readFileSync(path.join(release, file), "utf8")) as Json;
  if (typeof schema.$id === "string" && schema.$id.endsWith(file)) prefix = schema.$id.slice(0, -file.length);
  documents.set(file, schema);
  documents.set(file, rewrite(schema, file) as Json);
}

/**
 * Points references at the root. Draft-07 ignores what stands beside a `$ref`, so that goes: kept, it would make the
 * compiler declare copies and take longer.
 */
function rewrite(value: unknown, file: string): unknown {
  if (Array.isArray(value)) return value.map((one) => rewrite(one, file));
  if (typeof value !== "object" || value === null) return value;
  const { $ref, $id: _id, $schema: _schema, ...rest } = value as Json;
  if (typeof $ref === "string") {
    const found = target($ref, file);
    read(found.file);
    return { $ref: found.place };
  }
  return Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, rewrite(one, file)]));
}

const manifest = JSON.parse(readFileSync(path.join(release, "manifest.json"), "utf8")) as {
  tools: Record<string, { request_schema: string; response_schema: string; async_response_schemas: string[] }>;
};
for (const { request_schema, response_schema, async_response_schemas } of Object.values(manifest.tools))
  for (const file of [request_schema, response_schema, ...async_response_schemas]) read(file);

const names = [...documents.keys()].sort().map((file) => [nameOf(file), documents.get(file)] as const);
const root = {
  type: "object",
  properties: Object.fromEntries(names.map(([name]) => [name, { $ref: `#/definitions/${name}` }])),
  additionalProperties: false,
  definitions: Object.fromEntries(names),
};
const text = await compile(root as never, "Root", { bannerComment: "", format: false, maxItems: -1 });
writeFileSync(output, text);
