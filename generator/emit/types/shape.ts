/** Schemas as the type compiler is to see them, one at a time: each function takes one and gives the next. */
import { isMap, type JsonMap, type Schema } from "../../load/walk.js";

/** Keywords a type can say; the compiler sees no other, whatever a release or the compiler itself makes of them. */
export const typed = new Set([
  "$ref",
  "additionalItems",
  "additionalProperties",
  "allOf",
  "anyOf",
  "const",
  "deprecated",
  "description",
  "enum",
  "items",
  "minItems",
  "oneOf",
  "patternProperties",
  "properties",
  "required",
  "title",
  "type",
]);

/** Keywords that alone give a schema a shape. */
const shaping = ["$ref", "allOf", "anyOf", "const", "enum", "items", "oneOf", "patternProperties", "properties"];

export const combiners = ["allOf", "anyOf", "oneOf"] as const;

export const list = (schema: JsonMap, key: string): Schema[] =>
  Array.isArray(schema[key]) ? (schema[key] as Schema[]) : [];

const hasShape = (schema: Schema): boolean => {
  if (!isMap(schema)) return schema === false;
  const empty =
    isMap(schema.properties) && Object.keys(schema.properties).length === 0 && schema.additionalProperties !== false;
  if (shaping.some((key) => schema[key] !== undefined && !(empty && key === "properties"))) return true;
  if (isMap(schema.additionalProperties)) return true;
  return schema.type !== undefined && schema.type !== "object";
};

export const keep = (schema: JsonMap, drop: (key: string) => boolean): JsonMap =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !drop(key)));

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;

/** Values a schema lists, as a type, when some are more than scalars: JSON is TypeScript's syntax for its own type. */
function listedValues(schema: JsonMap): string | undefined {
  const values = schema.const !== undefined ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : [];
  return values.every(isScalar) ? undefined : values.map((value) => JSON.stringify(value)).join(" | ");
}

/** What a schema says without any keyword of shape: anything at all, or the values it lists. */
export function literalType(schema: JsonMap): JsonMap | undefined {
  const values = listedValues(schema);
  const labels = keep(schema, (key) => !isLabel(key));
  if (values !== undefined) return { ...labels, tsType: values };
  const silent =
    schema.type === undefined &&
    schema.additionalProperties === undefined &&
    !shaping.some((key) => schema[key] !== undefined);
  if (silent) return { ...labels, tsType: "unknown" };
  const empty =
    schema.additionalProperties === false &&
    Object.keys(isMap(schema.properties) ? schema.properties : {}).length === 0;
  const alone = !combiners.some((key) => schema[key] !== undefined) && schema.patternProperties === undefined;
  // `{}` is any value but null to TypeScript, and an object without properties here.
  return empty && alone && (schema.type === "object" || schema.type === undefined)
    ? { ...labels, tsType: "Record<string, never>" }
    : undefined;
}

/** The compiler asks its input `hasOwnProperty`, so no property may be called so; the object is open for it instead. */
export function withoutHasOwn(schema: JsonMap): JsonMap {
  if (!isMap(schema.properties) || !Object.hasOwn(schema.properties, "hasOwnProperty")) return schema;
  const { hasOwnProperty: _, ...properties } = schema.properties;
  const required = (Array.isArray(schema.required) ? schema.required : []).filter((name) => name !== "hasOwnProperty");
  return { ...schema, properties, required, additionalProperties: true };
}

/** Names by pattern are names all the same: what they may hold joins what further properties may. */
export function withoutPatterns(schema: JsonMap): JsonMap {
  if (!isMap(schema.patternProperties)) return schema;
  const { patternProperties, ...rest } = schema;
  const values = Object.values(patternProperties) as Schema[];
  return { ...rest, additionalProperties: rest.additionalProperties === false ? { anyOf: values } : true };
}

/** Drops alternatives that only constrain: `anyOf: [{required: [a]}, {required: [b]}]` has no type of its own. */
export function dropShapeless(schema: JsonMap): JsonMap {
  const result = { ...schema };
  for (const key of combiners) {
    const members = list(schema, key);
    if (members.length === 0) continue;
    const shaped = members.filter(hasShape);
    // In a union one shapeless member accepts anything the others leave out, so the union says nothing.
    if (key === "allOf" ? shaped.length > 0 : shaped.length === members.length) result[key] = shaped;
    else delete result[key];
  }
  return result;
}

const isLabel = (key: string): boolean => key === "title" || key === "description" || key === "deprecated";

/** `{properties, oneOf}` -> `{allOf: [{properties}, {oneOf}]}`: the compiler would declare the first part apart. */
export function splitParts(schema: JsonMap): JsonMap {
  const used = combiners.filter((key) => list(schema, key).length > 0);
  if (used.length === 0) return schema;
  const own = keep(schema, (key) => isLabel(key) || used.includes(key as never));
  const labels = keep(schema, (key) => !isLabel(key));
  // `required` and `type: object` beside a combiner say nothing once they stand alone.
  if (used.length === 1 && !hasShape(own)) return { ...labels, [used[0]!]: schema[used[0]!]! };
  const parts = used.filter((key) => key !== "allOf").map((key): JsonMap => ({ [key]: schema[key]! }));
  return { ...labels, allOf: [...(hasShape(own) ? [own] : []), ...list(schema, "allOf"), ...parts] };
}
