/**
 * A request's schema as a model is shown it: an object, every property of its root named and typed, what is demanded told to its
 * last level, one of all alternatives taken and the others described. It is a projection: calls are judged by the release's own.
 */
import type { JsonObject, SchemaRef } from "../../../contract/index.js";
import { type LeastSchema, leastSchema, typeNameOf } from "./least-schema.js";
import { type MergedSchema, mergeSchemas } from "./merge-schemas.js";
import type { PlaceReader, SchemaPlace } from "./schema-place.js";

/** How much is told beyond what a call needs: each level has what those before it have. */
export const details = ["types", "values", "members", "objects", "items"] as const;
export type Detail = number;

const detail = (name: (typeof details)[number]): Detail => details.indexOf(name);

/** Characters of a list of values where the property may be left out, and where it is demanded. */
const MOST_VALUES = { optional: 100, required: 600 } as const;
const MOST_WORDS = 200;

export function compactSchema(reader: PlaceReader, ref: SchemaRef, level: Detail): JsonObject {
  const sites = [reader.root(ref)];
  const least = leastSchema(reader, sites) ?? namesOnly(mergeSchemas(reader, sites));
  const drawn = objectOf(reader, least, level, rootProperties(reader, sites, least.flat));
  return { type: "object", ...drawn };
}

/** A root that nothing can meet is shown by its names. */
const namesOnly = (flat: MergedSchema): LeastSchema => ({
  flat,
  members: new Map(),
  item: undefined,
  least: {},
  others: [],
});

/** Those of alternatives that were not taken too. */
function rootProperties(
  reader: PlaceReader,
  sites: readonly SchemaPlace[],
  taken: MergedSchema,
): ReadonlyMap<string, readonly SchemaPlace[]> {
  const all = new Map<string, readonly SchemaPlace[]>(taken.properties);
  for (const alternatives of mergeSchemas(reader, sites).alternatives.values()) {
    for (const one of alternatives) {
      for (const [name, own] of mergeSchemas(reader, [one]).properties) if (!all.has(name)) all.set(name, own);
    }
  }
  return all;
}

function objectOf(
  reader: PlaceReader,
  least: LeastSchema,
  level: Detail,
  optional: ReadonlyMap<string, readonly SchemaPlace[]>,
): JsonObject {
  const { members, others } = least;
  const properties: JsonObject = {};
  for (const [name, inner] of members) properties[name] = drawn(reader, inner, level);
  for (const [name, sites] of optional) {
    if (!Object.hasOwn(properties, name) && sites.every(({ node }) => node !== false))
      properties[name] = brief(reader, sites, level);
  }
  const required = [...members.keys()];
  return {
    ...(others.length > 0 && { description: othersText(required, others) }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

function othersText(required: readonly string[], others: readonly (readonly string[])[]): string {
  const known = new Set(required);
  const told = [...new Set(others.map((names) => names.filter((name) => !known.has(name)).join(" + ")))].filter(
    Boolean,
  );
  const text = told.length > 0 ? `Other ways: ${told.join("; or ")}` : "Other ways exist";
  return text.slice(0, MOST_WORDS);
}

/** What is demanded: told whole. */
function drawn(reader: PlaceReader, least: LeastSchema, level: Detail): JsonObject {
  const { flat, item } = least;
  const type = typeNameOf(flat);
  if (flat.values !== undefined) return valuesOf(flat.values, MOST_VALUES.required);
  const more = level >= detail("members") ? flat.properties : new Map<string, readonly SchemaPlace[]>();
  const bounds = boundsOf(flat, type);
  if (type === "object") return { type, ...objectOf(reader, least, Math.min(level, 1), more), ...bounds };
  if (type === "array") return { type, items: item === undefined ? anything : drawn(reader, item, level), ...bounds };
  return { type: flat.types?.length === 1 ? type : (flat.types ?? type), ...bounds };
}

/** Any JSON at all: callers of some models refuse a property without a type. */
const anything = { type: ["string", "number", "boolean", "object", "array", "null"] } as const;

const boundsByType: Readonly<Record<string, readonly string[]>> = {
  string: ["format", "pattern", "minLength"],
  number: ["minimum", "exclusiveMinimum", "maximum", "multipleOf"],
  integer: ["minimum", "exclusiveMinimum", "maximum", "multipleOf"],
  array: ["minItems"],
  object: ["minProperties"],
};

const boundsOf = ({ bounds }: MergedSchema, type: string): JsonObject =>
  Object.fromEntries(
    (boundsByType[type] ?? []).filter((name) => bounds[name] !== undefined).map((name) => [name, bounds[name]]),
  );

function valuesOf(values: readonly unknown[], most: number): JsonObject {
  const [first] = values;
  const type = first === null ? "null" : Array.isArray(first) ? "array" : typeof first;
  if (values.length === 1) return { type, const: first };
  const kept = [...values];
  while (kept.length > 1 && JSON.stringify(kept).length > most) kept.pop();
  return { type, enum: kept };
}

/** What may be left out: its type, and at higher levels what is in it. */
function brief(reader: PlaceReader, sites: readonly SchemaPlace[], level: Detail): JsonObject {
  const flat = mergeSchemas(reader, sites);
  const { values } = flat;
  if (values !== undefined && values.length > 0) {
    const told = valuesOf(values, Number.POSITIVE_INFINITY);
    const short = level >= detail("values") && JSON.stringify(values).length <= MOST_VALUES.optional;
    return short || values.length === 1 ? told : { type: told.type };
  }
  const types = typesOf(reader, flat);
  if (types === undefined) return { ...anything };
  if (types.length > 1) return { type: types };
  const [type] = types as [string];
  if (type === "array") return { type, items: itemOf(reader, flat, level) };
  const least = type === "object" && level >= detail("objects") ? leastSchema(reader, sites) : undefined;
  if (least !== undefined) return drawn(reader, least, detail("values"));
  const { format } = flat.bounds;
  return { type, ...(level >= detail("values") && format !== undefined && { format }) };
}

function itemOf(reader: PlaceReader, flat: MergedSchema, level: Detail): JsonObject {
  if (flat.items.length === 0) return { ...anything };
  const least = level >= detail("items") ? leastSchema(reader, flat.items) : undefined;
  return least === undefined ? brief(reader, flat.items, Math.min(level, 1)) : drawn(reader, least, 1);
}

/** Types of a place, from its alternatives where it has none itself. */
function typesOf(reader: PlaceReader, flat: MergedSchema, depth = 0): readonly string[] | undefined {
  if (flat.types !== undefined) return flat.types;
  if (flat.properties.size > 0) return ["object"];
  if (flat.items.length > 0) return ["array"];
  if (flat.bounds.pattern !== undefined || flat.bounds.format !== undefined) return ["string"];
  if (depth > 4) return undefined;
  for (const alternatives of flat.alternatives.values()) {
    const found = alternatives.map((one) => {
      const inner = mergeSchemas(reader, [one]);
      return inner.values === undefined
        ? typesOf(reader, inner, depth + 1)
        : [valuesOf(inner.values, 0).type as string];
    });
    if (found.every((one) => one !== undefined)) return [...new Set(found.flat())];
  }
  return undefined;
}
