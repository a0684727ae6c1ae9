/**
 * Where schemas stand inside a schema. Data positions (`examples`, `enum`, `const`, `default`) and the names of
 * properties are never taken for keywords, so a property called `$ref` or `enum` is just a property.
 */
import { isJsonObject } from "../../runtime/contract/index.js";

export type SchemaJson = null | boolean | number | string | SchemaJson[] | { [key: string]: SchemaJson };
export type JsonMap = { [key: string]: SchemaJson };
export type Schema = boolean | JsonMap;

export const isMap = (value: unknown): value is JsonMap => isJsonObject(value);

const isSchema = (value: unknown): value is Schema => typeof value === "boolean" || isMap(value);

/** Keywords that hold one schema. */
const single = new Set([
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
]);
/** Keywords that hold a list of schemas. */
const listed = new Set(["allOf", "anyOf", "items", "oneOf", "prefixItems"]);
/** Keywords that hold schemas by name; `dependencies` may hold lists of names too. */
const named = new Set(["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"]);

export type Path = readonly (string | number)[];

/** A place inside a schema, as a chain from the inside out: most places are passed without anybody asking their path. */
export interface Place {
  readonly up: Place | undefined;
  readonly keyword: string;
  readonly name: string | number | undefined;
}

/** Keys that lead to a place. */
export function pathOf(place: Place | undefined): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.up) {
    if (at.name !== undefined) keys.unshift(at.name);
    keys.unshift(at.keyword);
  }
  return keys;
}

type OnChild = (child: Schema, keyword: string, name: string | number | undefined) => void;

/** Calls `on` for each schema directly inside a schema. */
export function eachChild(schema: JsonMap, on: OnChild): void {
  for (const keyword in schema) {
    const held = schema[keyword];
    if (typeof held === "boolean") {
      if (single.has(keyword)) on(held, keyword, undefined);
    } else if (Array.isArray(held)) {
      if (!listed.has(keyword)) continue;
      for (let index = 0; index < held.length; index++)
        if (isSchema(held[index])) on(held[index] as Schema, keyword, index);
    } else if (typeof held === "object" && held !== null) {
      if (single.has(keyword)) on(held, keyword, undefined);
      else if (named.has(keyword))
        for (const name of Object.keys(held)) if (isSchema(held[name])) on(held[name] as Schema, keyword, name);
    }
  }
}

/** Calls `visit` on a schema and every schema inside it, outermost first. */
export function walk(schema: Schema, visit: (schema: JsonMap, place: Place | undefined) => void, place?: Place): void {
  if (!isMap(schema)) return;
  visit(schema, place);
  eachChild(schema, (child, keyword, name) => walk(child, visit, { up: place, keyword, name }));
}

/** A copy in which every schema inside has gone through `change`, innermost first. */
export function mapSchema(schema: Schema, change: (schema: JsonMap) => Schema): Schema {
  if (!isMap(schema)) return schema;
  const copy: JsonMap = { ...schema };
  eachChild(schema, (child, keyword, name) => {
    const changed = mapSchema(child, change);
    const held = schema[keyword]!;
    if (name === undefined) {
      copy[keyword] = changed;
      return;
    }
    // Copied once per keyword: the first child of a list or map replaces the shared one.
    if (copy[keyword] === held) copy[keyword] = Array.isArray(held) ? [...held] : { ...(held as JsonMap) };
    setKey(copy[keyword] as JsonMap, name as string, changed);
  });
  return change(copy);
}

/** Value at a JSON pointer (RFC 6901), or undefined. */
export function atPointer(document: SchemaJson, pointer: string): SchemaJson | undefined {
  if (pointer === "") return document;
  if (!pointer.startsWith("/")) return undefined;
  let value: SchemaJson | undefined = document;
  for (const token of pointer.slice(1).split("/")) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonMap)[key];
  }
  return value;
}

/** Keys sorted by code point at every depth, so that the order in a file never shows in what is made of it. */
export function sortKeys<T extends SchemaJson>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = sortKeys(value[index] as SchemaJson);
    return value;
  }
  const sorted: JsonMap = {};
  for (const key of Object.keys(value).sort()) setKey(sorted, key, sortKeys((value as JsonMap)[key] as SchemaJson));
  return sorted as T;
}

/** Sets an own key, also one called `__proto__`, which plain assignment would take for the prototype. */
function setKey(target: JsonMap, key: string, value: SchemaJson): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
