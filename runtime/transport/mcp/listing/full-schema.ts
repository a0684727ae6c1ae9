/** Request schemas as transports list them: one self-contained document a tool. */
import {
  isJsonObject,
  type JsonObject,
  type SchemaDocuments,
  type SchemaRef,
  schemaUri,
} from "../../../contract/index.js";

/** What only tells about a schema, and would double the size of a listing. */
const silent = new Set(["$schema", "$id", "title", "examples", "$comment"]);

/**
 * A schema with everything it refers to under `$defs`.
 * @param documents the release's, as `release.schemas()` gives them
 */
export function bundledSchema(documents: SchemaDocuments, ref: SchemaRef): JsonObject {
  const byUri = new Map(Object.entries(documents).map(([path, text]) => [schemaUri(path), text]));
  const names = new Map<string, string>();
  const definitions: JsonObject = {};
  const rootUri = schemaUri(ref);

  const nameOf = (uri: string): string => {
    const known = names.get(uri);
    if (known !== undefined) return known;
    const stem = uri
      .slice(uri.lastIndexOf("/") + 1)
      .replace(/\.json$/, "")
      .replace(/[^A-Za-z0-9_-]/g, "_");
    let name = stem;
    for (let more = 2; Object.hasOwn(definitions, name); more++) name = `${stem}_${more}`;
    names.set(uri, name);
    definitions[name] = true;
    const text = byUri.get(uri);
    if (text !== undefined) definitions[name] = rewritten(JSON.parse(text), uri);
    return name;
  };
  const target = (value: string, here: string): string => {
    const hash = value.indexOf("#");
    const uri = hash === 0 ? here : hash < 0 ? value : value.slice(0, hash);
    const pointer = hash < 0 ? "" : value.slice(hash + 1);
    return uri === rootUri ? `#${pointer}` : `#/$defs/${nameOf(uri)}${pointer}`;
  };
  const rewritten = (value: unknown, here: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => rewritten(item, here));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key, item]) => !(silent.has(key) && !isJsonObject(item)))
        .map(([key, item]) => [
          key,
          key === "$ref" && typeof item === "string" ? target(item, here) : rewritten(item, here),
        ]),
    );
  };
  const text = byUri.get(rootUri);
  const root = text === undefined ? {} : (rewritten(JSON.parse(text), rootUri) as JsonObject);
  return { type: "object", ...root, ...(Object.keys(definitions).length > 0 && { $defs: definitions }) };
}
