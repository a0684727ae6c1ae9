/** What validation needs of the schemas: everything but annotations. */
import { schemaUri } from "../../runtime/contract/index.js";
import { splitRef } from "../load/closure.js";
import { type JsonMap, mapSchema, type Schema, walk } from "../load/walk.js";
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

const withUri = (schema: JsonMap): JsonMap =>
  typeof schema.$ref === "string" ? { ...schema, $ref: schemaUri(schema.$ref.slice(1)) } : schema;

const withoutAnnotations = (schema: JsonMap): JsonMap =>
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
    json: JSON.stringify(
      mapSchema(schema as Schema, whole.has(path) ? withUri : (one) => withUri(withoutAnnotations(one))),
    ),
  }));
}
