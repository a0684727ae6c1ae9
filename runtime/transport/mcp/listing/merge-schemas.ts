/** Schemas that all hold at one place, taken together: references followed, `allOf` merged, alternatives set apart. */
import { isJsonObject } from "../../../contract/index.js";
import { innerPlace, membersOf, type PlaceReader, type SchemaPlace } from "./schema-place.js";

/** `anyOf` or `oneOf`: one of these has to hold as well. */
export type Alternatives = readonly SchemaPlace[];

export interface SchemaCondition {
  readonly test: SchemaPlace;
  readonly applied: SchemaPlace | undefined;
  readonly otherwise: SchemaPlace | undefined;
}

export interface MergedSchema {
  /** Undefined where any type is good. */
  types: readonly string[] | undefined;
  /** Values of `enum` and `const`. */
  values: readonly unknown[] | undefined;
  readonly properties: Map<string, SchemaPlace[]>;
  readonly required: Set<string>;
  readonly items: SchemaPlace[];
  /** `pattern`, `minimum` and their like. */
  readonly bounds: Record<string, unknown>;
  /** By the array they stand in, so that each is known again. */
  readonly alternatives: Map<unknown, Alternatives>;
  readonly conditions: Map<unknown, SchemaCondition>;
  readonly excluded: SchemaPlace[];
  /** Property -> what has to be there with it. */
  readonly together: Map<string, readonly string[]>;
}

/** Keywords that a least value has to keep to, and that are short. */
const boundNames = [
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minItems",
  "maxItems",
  "minProperties",
  "multipleOf",
] as const;

/** References followed from one place: a schema may refer to itself. */
const MOST_SITES = 200;

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : typeof value === "string" ? [value] : [];

export function mergeSchemas(reader: PlaceReader, sites: readonly SchemaPlace[]): MergedSchema {
  const flat: MergedSchema = {
    ...{ types: undefined, values: undefined, properties: new Map(), required: new Set(), items: [] },
    ...{ bounds: {}, alternatives: new Map(), conditions: new Map(), excluded: [], together: new Map() },
  };
  const queue = [...sites];
  for (let count = 0; queue.length > 0 && count < MOST_SITES; count++) {
    const site = queue.shift()!;
    const node = membersOf(site);
    if (typeof node.$ref === "string") queue.push(reader.follow(node.$ref, site));
    if (Array.isArray(node.allOf)) queue.push(...node.allOf.map((one) => innerPlace(site, one)));
    addOwn(flat, site);
  }
  return flat;
}

function addOwn(flat: MergedSchema, site: SchemaPlace): void {
  const node = membersOf(site);
  const types = texts(node.type);
  if (types.length > 0) flat.types = flat.types === undefined ? types : common(flat.types, types);
  const values = "const" in node ? [node.const] : Array.isArray(node.enum) ? node.enum : undefined;
  if (values !== undefined) flat.values = flat.values === undefined ? values : flat.values.filter(isIn(values));
  for (const [name, one] of isJsonObject(node.properties) ? Object.entries(node.properties) : []) {
    flat.properties.set(name, [...(flat.properties.get(name) ?? []), innerPlace(site, one)]);
  }
  for (const name of texts(node.required)) flat.required.add(name);
  if (isJsonObject(node.items)) flat.items.push(innerPlace(site, node.items));
  for (const name of boundNames) if (node[name] !== undefined) flat.bounds[name] = node[name];
  for (const list of [node.anyOf, node.oneOf]) {
    if (Array.isArray(list))
      flat.alternatives.set(
        list,
        list.map((one) => innerPlace(site, one)),
      );
  }
  if (node.if !== undefined) {
    const branch = (one: unknown) => (one === undefined ? undefined : innerPlace(site, one));
    flat.conditions.set(node.if, {
      ...{ test: innerPlace(site, node.if), applied: branch(node.then), otherwise: branch(node.else) },
    });
  }
  if (node.not !== undefined) flat.excluded.push(innerPlace(site, node.not));
  for (const [name, one] of isJsonObject(node.dependencies) ? Object.entries(node.dependencies) : []) {
    flat.together.set(name, [...(flat.together.get(name) ?? []), ...texts(one)]);
  }
}

const isIn = (values: readonly unknown[]) => {
  const known = new Set(values.map((value) => JSON.stringify(value)));
  return (value: unknown): boolean => known.has(JSON.stringify(value));
};

/** Every integer is a number. */
const common = (left: readonly string[], right: readonly string[]): string[] => [
  ...left.filter((type) => right.includes(type) || (type === "integer" && right.includes("number"))),
  ...right.filter((type) => type === "integer" && left.includes("number") && !left.includes("integer")),
];
