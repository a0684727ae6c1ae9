/**
 * What the schemas of a release say of a value, asked of ajv and of the schemas as published: nothing of the generator is
 * used, so that the generator can be judged by it.
 */
import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import { openRelease } from "../../generator/load/files.js";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type JsonMap = { [key: string]: Json };

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Keywords a type cannot say: what they refuse is counted apart. */
const conditional = [
  "if",
  "then",
  "else",
  "not",
  "contains",
  "propertyNames",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
];

/** The schema without its conditions, exclusive alternatives as plain ones: without `not` several may hold. */
function unconditional(value: Json, isNames = false): Json {
  if (Array.isArray(value)) return value.map((one) => unconditional(one));
  if (!isMap(value)) return value;
  const named = new Set(["properties", "patternProperties", "definitions", "$defs"]);
  const entries = Object.entries(value)
    .filter(([key]) => isNames || !conditional.includes(key))
    .map(([key, held]): [string, Json] => [
      key,
      key === "$ref" && typeof held === "string"
        ? held.replace(/#.*$/, (fragment) => fragment.replaceAll("/oneOf/", "/anyOf/"))
        : unconditional(held, !isNames && named.has(key)),
    ]);
  const result = Object.fromEntries(entries) as JsonMap;
  if (!isNames && Array.isArray(result.oneOf)) {
    const { oneOf, ...rest } = result;
    const part = { anyOf: oneOf! };
    return rest.anyOf === undefined
      ? { ...rest, ...part }
      : { ...rest, allOf: [...((rest.allOf ?? []) as Json[]), part] };
  }
  return result;
}

export interface SchemaJudge {
  accepts(path: string, value: unknown): boolean;
  /** As `accepts`, with every keyword that depends on the value left out. */
  acceptsUnconditionally(path: string, value: unknown): boolean;
  /** Errors of the last `accepts`, as keyword and place. */
  errors(): { keyword: string; at: string }[];
  /** Schemas that may speak of the value at a place inside a value of the schema, branches included. */
  about(path: string, value: unknown, at: readonly (string | number)[]): JsonMap[];
}

/** The schemas of a release as published: by path, and the path of each by its id. */
interface Published {
  readonly schemas: ReadonlyMap<string, JsonMap>;
  readonly pathOf: ReadonlyMap<string, string>;
}

async function readPublished(release: string): Promise<Published> {
  const files = await openRelease(release);
  const schemas = new Map<string, JsonMap>();
  const pathOf = new Map<string, string>();
  for (const file of files.list()) {
    if (!file.endsWith(".json") || /^(mcp|bundled)\/|^core\/async-response-refs\/|^manifest/.test(file)) continue;
    const schema = JSON.parse(files.read(file)!.toString()) as JsonMap;
    if (typeof schema.$id !== "string") continue;
    schemas.set(file, schema);
    pathOf.set(schema.$id, file);
  }
  return { schemas, pathOf };
}

function compiled({ schemas }: Published, change: (schema: JsonMap) => object): (path: string) => ValidateFunction {
  const ajv = new Ajv({
    strict: false,
    validateSchema: false,
    logger: false,
    allErrors: true,
    code: { optimize: false },
  });
  formats.default(ajv);
  for (const schema of schemas.values()) ajv.addSchema(change(schema));
  return (ref) => {
    const [path = "", ...fragment] = ref.split("#");
    return ajv.getSchema([schemas.get(path)!.$id as string, ...fragment].join("#"))!;
  };
}

/** What speaks of places inside a value: looked up by hand, since a validator does not say. */
class Places {
  constructor(private readonly published: Published) {}

  private target(ref: string, from: string): { schema: Json | undefined; file: string } {
    const [uri = "", fragment = ""] = ref.split("#");
    const file = uri === "" ? from : this.published.pathOf.get(uri)!;
    let schema: Json | undefined = this.published.schemas.get(file);
    for (const token of fragment.split("/").slice(1))
      schema =
        isMap(schema) || Array.isArray(schema)
          ? (schema as JsonMap)[token.replaceAll("~1", "/").replaceAll("~0", "~")]
          : undefined;
    return { schema, file };
  }

  /** A schema and everything it is made of, for a value; branches whose constants the value contradicts aside. */
  *parts(schema: Json | undefined, file: string, value: unknown, depth = 0): Generator<[JsonMap, string]> {
    if (!isMap(schema) || depth > 40 || contradicts(schema, value)) return;
    yield [schema, file];
    if (typeof schema.$ref === "string") {
      const next = this.target(schema.$ref, file);
      yield* this.parts(next.schema, next.file, value, depth + 1);
    }
    for (const key of ["allOf", "oneOf", "anyOf"])
      for (const one of Array.isArray(schema[key]) ? schema[key] : []) yield* this.parts(one, file, value, depth + 1);
  }

  *inside(found: Iterable<[JsonMap, string]>, key: string | number): Generator<[Json, string]> {
    for (const [schema, file] of found) {
      if (typeof key === "number") {
        if (isMap(schema.items)) yield [schema.items, file];
        continue;
      }
      const own =
        isMap(schema.properties) && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
      if (own !== undefined) yield [own, file];
      const patterns = Object.entries(isMap(schema.patternProperties) ? schema.patternProperties : {});
      const matching = patterns.filter(([pattern]) => new RegExp(pattern, "u").test(key));
      for (const [, held] of matching) yield [held, file];
      if (own === undefined && matching.length === 0 && isMap(schema.additionalProperties))
        yield [schema.additionalProperties, file];
    }
  }
}

/** Reads every schema of a release as published. */
export async function judgeOf(release: string): Promise<SchemaJudge> {
  const published = await readPublished(release);
  const plain = compiled(published, (schema) => schema);
  const loose = compiled(published, (schema) => ({ ...(unconditional(schema) as JsonMap), $id: schema.$id }));
  const places = new Places(published);
  let last: ValidateFunction | undefined;
  return {
    accepts(path, value) {
      last = plain(path);
      return last(value) as boolean;
    },
    acceptsUnconditionally: (path, value) => loose(path)(value) as boolean,
    errors: () => (last?.errors ?? []).map(({ keyword, instancePath }) => ({ keyword, at: instancePath })),
    about(path, value, at) {
      let found = [...places.parts(published.schemas.get(path), path, value)];
      let held = value;
      for (const key of at) {
        held = (held as JsonMap)[key];
        found = [...places.inside(found, key)].flatMap(([schema, file]) => [...places.parts(schema, file, held)]);
      }
      return found.map(([schema]) => schema);
    },
  };
}

/** A branch that names constants the value does not have is not the value's branch. */
function contradicts(schema: JsonMap, value: unknown): boolean {
  if (!isMap(schema.properties) || !isMap(value)) return false;
  return Object.entries(schema.properties).some(
    ([name, held]) =>
      isMap(held) && held.const !== undefined && value[name] !== undefined && value[name] !== held.const,
  );
}
