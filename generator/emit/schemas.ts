/** What validation needs of the schemas: everything but annotations. */
import { splitRef } from "../load/closure.js";
import { isMap, type JsonMap, mapSchema, type Schema, walk } from "../load/walk.js";
import type { DocumentModel } from "../model/model.js";

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

const withoutAnnotations = (schema: JsonMap): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !isAnnotation(key)));

/** Documents that something refers into by way of an annotation; they stay whole. */
function referredInto(documents: readonly DocumentModel[]): Set<string> {
  const whole = new Set<string>();
  for (const { schema } of documents) {
    walk(schema as Schema, ({ $ref }) => {
      if (typeof $ref !== "string") return;
      const { path, pointer } = splitRef($ref);
      if (pointer.split("/").some(isAnnotation)) whole.add(path);
    });
  }
  return whole;
}

/** Each document as compact JSON. */
export function validationSchemas(documents: readonly DocumentModel[]): { path: string; json: string }[] {
  const whole = referredInto(documents);
  return documents.map(({ path, schema }) => ({
    path,
    json: JSON.stringify(whole.has(path) || !isMap(schema) ? schema : mapSchema(schema, withoutAnnotations)),
  }));
}
