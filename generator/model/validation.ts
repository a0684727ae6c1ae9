/** What validation needs of the schemas: everything but annotations. */
import { schemaUri } from "../../runtime/contract/index.js";
import { type SchemaFile, splitRef } from "../load/closure.js";
import { type JsonMap, mapSchema, type Schema, walk } from "../load/walk.js";

/** Keywords no validator looks at; any other that we do not know stays. */
const annotations = new Set([
  "$comment",
  "default",
  "deprecated",
  "description",
  "discriminator",
  "enumDescriptions",
  "enumMetadata",
  "examples",
  "readOnly",
  "title",
  "writeOnly",
]);

const isAnnotation = (key: string): boolean => annotations.has(key) || key.startsWith("x-");

const withUri = (schema: JsonMap): JsonMap =>
  typeof schema.$ref === "string" ? { ...schema, $ref: schemaUri(schema.$ref.slice(1)) } : schema;

const withoutAnnotations = (schema: JsonMap): JsonMap =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !isAnnotation(key)));

/**
 * A list that holds something is not empty, and says so: ajv keeps what it found in one variable of the whole function, so
 * that an empty list passes `contains` where a list before it did.
 */
const withElements = (schema: JsonMap): JsonMap => {
  const { contains, minItems = 0, minContains = 1 } = schema;
  return contains === undefined || (minItems as number) > 0 || minContains === 0 ? schema : { ...schema, minItems: 1 };
};

/**
 * Of a list with places of its own, what is asked beside them is asked apart: ajv leaves off after the places where a list
 * is shorter than they are.
 */
function withPlacesApart(schema: JsonMap): JsonMap {
  const { contains, minContains, maxContains, uniqueItems, ...others } = schema;
  if (!Array.isArray(schema.items) || (contains === undefined && uniqueItems !== true)) return schema;
  const asked = Object.entries({ contains, minContains, maxContains, uniqueItems });
  const apart = Object.fromEntries(asked.filter(([, value]) => value !== undefined)) as JsonMap;
  const { allOf } = others;
  return { ...others, allOf: [...(Array.isArray(allOf) ? allOf : []), withElements(apart)] };
}

/** Documents that something refers into by way of what is left out or moved; they stay whole. */
function referredInto(schemas: Iterable<Schema>): Set<string> {
  const whole = new Set<string>();
  for (const schema of schemas) {
    walk(schema, ({ $ref }) => {
      if (typeof $ref !== "string") return;
      const { path, pointer } = splitRef($ref);
      if (pointer.split("/").some((key) => isAnnotation(key) || key === "contains")) whole.add(path);
    });
  }
  return whole;
}

/** Gives each document as the compact JSON that validators compile. */
export function validationOf(schemas: ReadonlyMap<string, Pick<SchemaFile, "schema">>): (path: string) => string {
  const whole = referredInto([...schemas.values()].map(({ schema }) => schema));
  return (path) =>
    JSON.stringify(
      mapSchema(schemas.get(path)!.schema, (one) =>
        withElements(withUri(whole.has(path) ? one : withPlacesApart(withoutAnnotations(one)))),
      ),
    );
}
