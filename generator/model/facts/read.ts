/** Schemas of a release as its facts are read from them: by place, through references and `allOf`, each with its pointer. */
import { splitRef } from "../../load/closure.js";
import type { ProjectionFile } from "../../load/projections.js";
import { atPointer, isMap, type JsonMap, type Schema, type SchemaJson } from "../../load/walk.js";

/** A tool, as far as facts need it. */
export interface FactTool {
  readonly name: string;
  /** Schema of its requests. */
  readonly request: string;
  /** Schema of its answers. */
  readonly response: string;
}

/** What facts are derived from. */
export interface FactSource {
  readonly word: string;
  readonly version: string;
  /** As the release has it. */
  readonly manifest: JsonMap;
  readonly documents: ReadonlyMap<string, { readonly schema: Schema }>;
  readonly projections: readonly ProjectionFile[];
  readonly tools: readonly FactTool[];
}

/** A schema and where it stands: `<path>` or `<path>#<pointer>`. */
export interface Placed {
  readonly schema: JsonMap;
  readonly ref: string;
}

const escaped = (key: string | number): string => String(key).replaceAll("~", "~0").replaceAll("/", "~1");

/** The place some keys below another. */
export const below = (ref: string, ...keys: (string | number)[]): string =>
  keys.reduce<string>((at, key) => `${at}/${escaped(key)}`, ref.includes("#") ? ref : `${ref}#`);

export function place({ documents }: FactSource, ref: string): Placed | undefined {
  const { path, pointer } = splitRef(`/${ref}`);
  const found = atPointer((documents.get(path)?.schema ?? null) as SchemaJson, pointer);
  return isMap(found) ? { schema: found, ref } : undefined;
}

/** A schema and all it demands at once: what it refers to, and the parts of its `allOf`. */
export function* demands(source: FactSource, placed: Placed | undefined, seen = new Set<JsonMap>()): Generator<Placed> {
  if (placed === undefined || seen.has(placed.schema)) return;
  seen.add(placed.schema);
  yield placed;
  const { schema, ref } = placed;
  if (typeof schema.$ref === "string") yield* demands(source, place(source, schema.$ref.slice(1)), seen);
  for (const [index, part] of listOf(schema.allOf).entries()) {
    if (isMap(part)) yield* demands(source, { schema: part, ref: below(ref, "allOf", index) }, seen);
  }
}

export const listOf = (value: SchemaJson | undefined): readonly SchemaJson[] => (Array.isArray(value) ? value : []);

export const stringsOf = (value: SchemaJson | undefined): string[] =>
  listOf(value).filter((one): one is string => typeof one === "string");

/** A property of a schema, where it or what it demands declares one. */
export function property(source: FactSource, placed: Placed | undefined, name: string): Placed | undefined {
  for (const { schema, ref } of demands(source, placed)) {
    const own =
      isMap(schema.properties) && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (isMap(own)) return { schema: own, ref: below(ref, "properties", name) };
  }
  return undefined;
}

/** A property of a property, and so on. */
export const propertyAt = (source: FactSource, ref: string, names: readonly string[]): Placed | undefined =>
  names.reduce<Placed | undefined>((at, name) => property(source, at, name), place(source, ref));

export const requiredOf = (source: FactSource, placed: Placed | undefined): string[] => [
  ...new Set([...demands(source, placed)].flatMap(({ schema }) => stringsOf(schema.required))),
];

/** Values that a place lists: its `const`, or its `enum`. */
export function valuesOf(source: FactSource, placed: Placed | undefined): string[] {
  for (const { schema } of demands(source, placed)) {
    if (typeof schema.const === "string") return [schema.const];
    if (Array.isArray(schema.enum)) return stringsOf(schema.enum);
  }
  return [];
}

/** Deepest chain of alternatives followed; a longer one is a loop. */
const MAX_DEPTH = 8;

/** The alternatives a schema comes to in the end; itself where it offers none. Each is a list of all that it demands. */
export function alternatives(source: FactSource, placed: Placed, depth = 0): Placed[][] {
  const own = [...demands(source, placed)];
  const lists = own.flatMap((one) =>
    (["oneOf", "anyOf"] as const).flatMap((key) => {
      const members = listOf(one.schema[key]).flatMap((schema, index) =>
        isMap(schema) ? [{ schema, ref: below(one.ref, key, index) }] : [],
      );
      return members.length > 0 ? [members] : [];
    }),
  );
  const [first] = lists;
  if (first === undefined || depth > MAX_DEPTH) return [own];
  return first.flatMap((member) => alternatives(source, member, depth + 1).map((one) => [...own, ...one]));
}
