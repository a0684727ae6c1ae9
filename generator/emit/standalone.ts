/**
 * Precompiled validators, for runtimes that may not compile code (`--standalone`): a file per schema, each schema once,
 * whoever uses it, so that a bundle holds what its tools reach and no more.
 */
import type { SchemaRef } from "../../runtime/contract/index.js";
import type { Model, ToolModel } from "../model/model.js";
import { toolUnit } from "../model/names.js";
import type { Plan } from "./plan-files.js";
import type { Render } from "./render.js";
import { bodyText, type NodeNames, refOfUri } from "./schema-node.js";
import { validationSchemas } from "./schemas.js";
import type { TypePlace } from "./types/compile.js";
import { validatorSchemaView, validatorsView, validatorToolView } from "./views.js";

const split = (ref: SchemaRef): [path: string, pointer: string] => {
  const hash = ref.indexOf("#");
  return hash < 0 ? [ref, ""] : [ref.slice(0, hash), ref.slice(hash + 1)];
};

/** Every reference in a document's JSON: it is of our own making, so its text tells. */
const referencesIn = (json: string): SchemaRef[] =>
  [...json.matchAll(/"\$ref":("\/(?:[^"\\]|\\.)*")/g)].map((match) => refOfUri(JSON.parse(match[1]!)));

const armRefs = (tool: ToolModel): SchemaRef[] =>
  tool.arms.flatMap(({ schema }) => (schema === undefined ? [] : [schema]));

/** Constants by reference: one a document, and one for each place inside that something refers to. */
function placesOf(model: Model, referred: Iterable<SchemaRef>): Map<SchemaRef, TypePlace> {
  const documents = new Map(model.documents.map((document) => [document.path, document]));
  const places = new Map<SchemaRef, TypePlace>();
  for (const { path, typeName, unit } of model.documents) places.set(path, { name: typeName, unit });
  const counts = new Map<string, number>();
  for (const ref of [...new Set(referred)].sort()) {
    const document = documents.get(split(ref)[0]);
    if (places.has(ref) || document === undefined) continue;
    const count = (counts.get(document.path) ?? 0) + 1;
    counts.set(document.path, count);
    // Names of types have no underscore.
    places.set(ref, { name: `${document.typeName}_${count}`, unit: document.unit });
  }
  return places;
}

const unescaped = (token: string): string => token.replaceAll("~1", "/").replaceAll("~0", "~");

const valueAt = (document: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .reduce<unknown>((value, token) => (value as Record<string, unknown>)[unescaped(token)], document);

/**
 * The file of one document: its constants, the inner ones first, so that each stands where it is used.
 * @param own references to the document and to places inside it
 */
function schemaFile(
  { path, json }: { path: string; json: string },
  { unit, own }: { unit: string; own: readonly SchemaRef[] },
  places: ReadonlyMap<SchemaRef, TypePlace>,
): object {
  const imports = new Map<string, TypePlace>();
  const names: NodeNames = {
    nameOf(ref) {
      const place = places.get(ref)!;
      if (place.unit !== unit) imports.set(place.name, place);
      return place.name;
    },
    heldAt: (pointer) => (pointer === "" ? undefined : places.get(`${path}#${pointer}`)?.name),
  };
  const schema = JSON.parse(json);
  const depth = (ref: SchemaRef): number => split(ref)[1].split("/").length;
  const nodes = [...own]
    .sort((a, b) => depth(b) - depth(a))
    .map((ref) => {
      const pointer = split(ref)[1];
      return { name: places.get(ref)!.name, text: bodyText(valueAt(schema, pointer) as never, pointer, names) };
    });
  return validatorSchemaView({ source: path, nodes, imports: [...imports.values()] });
}

/** Files of the precompiled validators: `validators/<tool>.ts`, typed, over `validators/schemas/*.ts`. */
export function planValidators(model: Model, render: Render): Plan {
  const documents = validationSchemas(model.documents);
  const unitOf = new Map(model.documents.map(({ path, unit }) => [path, unit]));
  const places = placesOf(model, [
    ...documents.flatMap(({ json }) => referencesIn(json)),
    ...model.tools.flatMap(armRefs),
  ]);
  const byPath = Map.groupBy(places.keys(), (ref) => split(ref)[0]);
  const plan: Plan = new Map();
  for (const document of documents) {
    const { path } = document;
    const unit = unitOf.get(path)!;
    const file = schemaFile(document, { unit, own: byPath.get(path)! }, places);
    plan.set(`validators/schemas/${unit}.ts`, render("validator-schema", file));
  }
  const placeOf = (ref: SchemaRef): TypePlace => places.get(ref)!;
  for (const tool of model.tools) {
    plan.set(`validators/${toolUnit(tool.name)}.ts`, render("validator-tool", validatorToolView(tool, placeOf)));
  }
  plan.set("validators/index.ts", render("validators", validatorsView(model, places)));
  return plan;
}
