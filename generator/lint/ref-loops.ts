import { type Found, pointer } from "../finding.js";
import { splitRef } from "../load/closure.js";
import type { LoadedRelease } from "../load/load.js";
import { atPointer, isMap, type JsonMap, type Place, pathOf, type Schema, walk } from "../load/walk.js";

/** Keywords whose schemas speak of the same value. */
const listed = ["allOf", "anyOf", "oneOf"];
const single = ["if", "then", "else", "not"];
const valuesOf = (held: unknown): unknown[] => (isMap(held) ? Object.values(held) : []);

/** Schemas of the same value that a schema is made of, references aside. */
const partsOf = (schema: JsonMap): JsonMap[] =>
  [
    ...listed.flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as Schema[]) : [])),
    ...single.map((key) => schema[key]),
    ...valuesOf(schema.dependencies),
  ].filter(isMap);

/** Schemas that a value must satisfy in order to satisfy them: no value is valid or invalid by them. */
export function refLoops({ schemas }: LoadedRelease): Found[] {
  const target = (ref: string): Schema | undefined => {
    const { path, pointer: at } = splitRef(ref);
    return atPointer(schemas.get(path)?.schema ?? null, at) as Schema | undefined;
  };
  const found: Found[] = [];
  const places = new Map<JsonMap, { path: string; place: Place | undefined }>();
  for (const { path, schema } of schemas.values()) walk(schema, (one, place) => places.set(one, { path, place }));
  const done = new Set<JsonMap>();
  const open = new Set<JsonMap>();
  const visit = (schema: JsonMap): void => {
    if (done.has(schema)) return;
    open.add(schema);
    const to = typeof schema.$ref === "string" ? target(schema.$ref) : undefined;
    if (isMap(to) && open.has(to)) found.push(loopAt(places.get(schema)));
    else if (isMap(to)) visit(to);
    for (const part of partsOf(schema)) if (!open.has(part)) visit(part);
    open.delete(schema);
    done.add(schema);
  };
  for (const schema of places.keys()) visit(schema);
  return found;
}

const loopAt = (at: { path: string; place: Place | undefined } | undefined): Found => ({
  file: at?.path ?? "",
  pointer: pointer(...pathOf(at?.place), "$ref"),
  message: "the reference leads back to itself",
  remedy: "Point it at a schema that is not made of this one.",
});
