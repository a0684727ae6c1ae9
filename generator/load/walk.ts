/**
 * Where schemas stand inside a schema. Data positions (`examples`, `enum`, `const`, `default`) and the names of
 * properties are never taken for keywords, so a property called `$ref` or `enum` is just a property.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonMap = { [key: string]: Json };
export type Schema = boolean | JsonMap;

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isSchema = (value: unknown): value is Schema => typeof value === "boolean" || isMap(value);

/** Keywords that hold one schema. */
const single = [
  "additionalItems",
  "additionalProperties",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
];
/** Keywords that hold a list of schemas. */
const listed = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
/** Keywords that hold schemas by name; `dependencies` may hold lists of names too. */
const named = ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

export type Path = readonly (string | number)[];

/** The schemas directly inside a schema, each with its path from it. */
export function* children(schema: JsonMap): Generator<[path: Path, child: Schema]> {
  for (const key of single) {
    const child = schema[key];
    if (Object.hasOwn(schema, key) && isSchema(child)) yield [[key], child];
  }
  for (const key of listed) {
    const list = schema[key];
    if (!Object.hasOwn(schema, key) || !Array.isArray(list)) continue;
    for (const [index, child] of list.entries()) if (isSchema(child)) yield [[key, index], child];
  }
  for (const key of named) {
    const map = schema[key];
    if (!Object.hasOwn(schema, key) || !isMap(map)) continue;
    for (const [name, child] of Object.entries(map)) if (isSchema(child)) yield [[key, name], child];
  }
}

/** Calls `visit` on a schema and every schema inside it, outermost first. */
export function walk(schema: Schema, visit: (schema: JsonMap, path: Path) => void, path: Path = []): void {
  if (!isMap(schema)) return;
  visit(schema, path);
  for (const [step, child] of children(schema)) walk(child, visit, [...path, ...step]);
}

/** A copy in which every schema inside has gone through `change`, innermost first. */
export function mapSchema(schema: Schema, change: (schema: JsonMap) => Schema): Schema {
  if (!isMap(schema)) return schema;
  const copy: JsonMap = { ...schema };
  for (const [[key, name], child] of children(schema)) {
    const changed = mapSchema(child, change);
    if (name === undefined) copy[key as string] = changed;
    else {
      const held = copy[key as string];
      // Copied once per keyword: the first child of a list or map replaces the shared one.
      if (held === schema[key as string])
        copy[key as string] = Array.isArray(held) ? [...held] : { ...(held as JsonMap) };
      (copy[key as string] as JsonMap)[name as string] = changed;
    }
  }
  return change(copy);
}

/** Value at a JSON pointer (RFC 6901), or undefined. */
export function atPointer(document: Json, pointer: string): Json | undefined {
  if (pointer === "") return document;
  if (!pointer.startsWith("/")) return undefined;
  let value: Json | undefined = document;
  for (const token of pointer.slice(1).split("/")) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonMap)[key];
  }
  return value;
}

/** Keys sorted by code point at every depth, so that the order in a file never shows in what is made of it. */
export function sortKeys<T extends Json>(value: T): T {
  if (Array.isArray(value)) return value.map(sortKeys) as T;
  if (!isMap(value)) return value;
  const sorted: JsonMap = {};
  for (const key of Object.keys(value).sort()) setKey(sorted, key, sortKeys(value[key] as Json));
  return sorted as T;
}

/** Sets an own key, also one called `__proto__`, which plain assignment would take for the prototype. */
function setKey(target: JsonMap, key: string, value: Json): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
