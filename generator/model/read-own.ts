/** What a schema says by keywords of a kind: of texts and numbers, of objects, of lists, and of single values. */
import { isMap, type Schema, type JsonMap as SchemaMap } from "../load/walk.js";
import type {
  ArrayShape,
  Json,
  MapShape,
  ObjectShape,
  Openness,
  Property,
  ScalarShape,
  ScalarType,
  Shape,
  TupleShape,
} from "./shape.js";

/** Kinds of values a schema demands, by JSON Schema's names. */
export type Types = ReadonlySet<string>;

export function typesOf({ type, nullable }: SchemaMap): Types | undefined {
  const types = typeof type === "string" ? [type] : Array.isArray(type) ? (type as string[]) : [];
  if (types.length === 0) return undefined;
  return new Set(nullable === true ? [...types, "null"] : types);
}

type Child = (inner: Schema, keys: (string | number)[], kinds?: Types) => Shape;

const stringWords = ["minLength", "maxLength", "pattern", "format"] as const;
const numberWords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"] as const;
const objectWords = [
  "properties",
  "required",
  "additionalProperties",
  "patternProperties",
  "minProperties",
  "maxProperties",
];
const arrayWords = ["items", "additionalItems", "minItems", "maxItems", "uniqueItems"];

const speaks = (schema: SchemaMap, words: readonly string[]): boolean =>
  words.some((word) => schema[word] !== undefined);

const scalarTypes: readonly string[] = ["string", "number", "integer", "boolean", "null"];

/** A schema without kinds of its own has something to say of every kind that is demanded around it. */
export function speaksOfAll(schema: SchemaMap, kinds: Types): boolean {
  const isSaid: Record<string, boolean> = {
    object: speaks(schema, objectWords),
    array: speaks(schema, arrayWords),
    scalar: speaks(schema, stringWords) || speaks(schema, numberWords),
  };
  return [...kinds].every((kind) => isSaid[scalarTypes.includes(kind) ? "scalar" : kind]);
}

export interface OwnParts {
  parts: Shape[];
  /** Nothing is said but which kinds there may be. */
  typeOnly: boolean;
}

/** The parts that a schema's own keywords make, references and combinations aside. */
export function ownParts(
  schema: SchemaMap,
  pointer: string,
  { assumed, others, child }: { assumed: Types | undefined; others: boolean; child: Child },
): OwnParts {
  const types = typesOf(schema);
  const listed = listedValues(schema, types);
  const said = {
    string: speaks(schema, stringWords),
    number: speaks(schema, numberWords),
    object: speaks(schema, objectWords),
    array: speaks(schema, arrayWords),
  };
  const make = { schema, pointer, child };
  const lenientParts = (speaksOf: Record<keyof typeof said, boolean>): Shape[] => {
    const parts = [
      ...(speaksOf.string ? [scalar(make, ["string"])] : []),
      ...(speaksOf.number ? [scalar(make, ["number"])] : []),
      ...(speaksOf.object ? [objectOrMap(make)] : []),
      ...(speaksOf.array ? [arrayOrTuple(make)] : []),
    ];
    return parts.map((part) => ({ ...part, lenient: true }));
  };
  if (listed !== undefined) {
    // What is said of values of a kind none of which is listed says nothing.
    const has = (kind: keyof typeof said): boolean =>
      said[kind] && listed.values.some((value) => isOf(value, new Set([kind])));
    const beside = { string: has("string"), number: has("number"), object: has("object"), array: has("array") };
    return { parts: [{ pointer, ...listed.shape } as Shape, ...lenientParts(beside)], typeOnly: false };
  }
  const silent = !said.string && !said.number && !said.object && !said.array;
  if (types === undefined && silent) return { parts: [], typeOnly: false };
  const kinds = types ?? assumed;
  // What speaks of some kinds only leaves values of the others alone.
  if (kinds === undefined || (types === undefined && !speaksOfAll(schema, kinds)))
    return { parts: lenientParts(said), typeOnly: false };
  const scalars = scalarTypes.filter((type) => kinds.has(type)) as ScalarType[];
  const members: Shape[] = [
    ...(scalars.length > 0 && (types !== undefined || said.string || said.number) ? [scalar(make, scalars)] : []),
    ...(kinds.has("object") && (types !== undefined || said.object) ? [objectOrMap(make)] : []),
    ...(kinds.has("array") && (types !== undefined || said.array) ? [arrayOrTuple(make)] : []),
  ];
  const parts: Shape[] = members.length > 1 ? [{ kind: "union", pointer, mode: "any", members }] : members;
  return { parts, typeOnly: types !== undefined && silent && others };
}

/** `const` and `enum`; of listed values only those count that both have, and that are of a kind the schema demands. */
function listedValues(
  schema: SchemaMap,
  types: Types | undefined,
): { shape: Partial<Shape>; values: readonly Json[] } | undefined {
  const { const: only, enum: list } = schema;
  if (only === undefined && !Array.isArray(list)) return undefined;
  const fits = (value: Json): boolean => types === undefined || isOf(value, types);
  const isListed = !Array.isArray(list) || list.some((one) => JSON.stringify(one) === JSON.stringify(only));
  if (only !== undefined && fits(only) && isListed) return { shape: { kind: "const", value: only }, values: [only] };
  const values = only === undefined ? (list as Json[]).filter(fits) : [];
  const meanings = meaningsOf(schema);
  return { shape: { kind: "enum", values, ...(meanings !== undefined && { meanings }) }, values };
}

const isOf = (value: Json, types: Types): boolean => {
  if (value === null) return types.has("null");
  if (Array.isArray(value)) return types.has("array");
  if (typeof value === "number") return types.has("number") || (types.has("integer") && Number.isInteger(value));
  return types.has(typeof value);
};

/** What each value means: `enumDescriptions` by value, or `enumMetadata` with a description in each entry. */
function meaningsOf(schema: SchemaMap): Record<string, string> | undefined {
  const meanings: [string, string][] = [];
  for (const held of [schema.enumMetadata, schema.enumDescriptions]) {
    if (!isMap(held)) continue;
    for (const [value, entry] of Object.entries(held)) {
      const text = isMap(entry) ? entry.description : entry;
      if (typeof text === "string" && text.trim() !== "") meanings.push([value, text]);
    }
  }
  return meanings.length === 0 ? undefined : Object.fromEntries(meanings);
}

interface Making {
  schema: SchemaMap;
  pointer: string;
  child: Child;
}

/** Copies the keywords that have the type they should. */
function take(target: object, schema: SchemaMap, words: readonly string[]): void {
  for (const word of words) {
    const value = schema[word];
    if (typeof value === "number" || typeof value === "string") (target as Record<string, unknown>)[word] = value;
  }
}

function scalar({ schema, pointer }: Making, types: ScalarType[]): ScalarShape {
  const shape: ScalarShape = { kind: "scalar", pointer, types };
  if (types.includes("string")) take(shape, schema, stringWords);
  if (types.includes("number") || types.includes("integer")) take(shape, schema, numberWords);
  return shape;
}

const byName = (a: Property, b: Property): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

function objectOrMap(make: Making): ObjectShape | MapShape {
  const { schema, pointer, child } = make;
  const declared = isMap(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? (schema.required as string[]) : []);
  const properties = Object.entries(declared).map(
    ([name, inner]): Property => ({
      name,
      required: required.has(name),
      declared: true,
      shape: child(inner as Schema, ["properties", name]),
    }),
  );
  for (const name of required) {
    if (Object.hasOwn(declared, name)) continue;
    properties.push({ name, required: true, declared: false, shape: { kind: "any", pointer } });
  }
  const open = opennessOf(make);
  return properties.length === 0
    ? { kind: "map", pointer, ...open }
    : { kind: "object", pointer, properties: properties.sort(byName), ...open };
}

function opennessOf({ schema, child }: Making): Openness {
  const { additionalProperties: rest, patternProperties: patterns } = schema;
  const open: Openness = { openness: rest === false ? "closed" : "open" };
  if (isMap(rest) && Object.keys(rest).length > 0) open.rest = child(rest, ["additionalProperties"]);
  if (isMap(patterns)) {
    open.patterns = Object.entries(patterns).map(([pattern, inner]) => ({
      pattern,
      shape: child(inner as Schema, ["patternProperties", pattern]),
    }));
  }
  take(open, schema, ["minProperties", "maxProperties"]);
  return open;
}

/** `items` as a list is a tuple. */
function arrayOrTuple({ schema, pointer, child }: Making): ArrayShape | TupleShape {
  const any: Shape = { kind: "any", pointer };
  const { items, additionalItems: rest } = schema;
  const bounds: { unique?: boolean } = schema.uniqueItems === true ? { unique: true } : {};
  take(bounds, schema, ["minItems", "maxItems"]);
  if (!Array.isArray(items))
    return { kind: "array", pointer, items: items === undefined ? any : child(items as Schema, ["items"]), ...bounds };
  return {
    kind: "tuple",
    pointer,
    items: items.map((inner, index) => child(inner as Schema, ["items", index])),
    rest: rest === undefined ? any : child(rest as Schema, ["additionalItems"]),
    ...bounds,
  };
}
