/**
 * Precompiled validators, for runtimes that may not compile code (`--standalone`): a file per schema, each schema once,
 * whoever uses it, so that a bundle holds what its tools reach and no more.
 */
import type { SchemaRef } from "../../runtime/contract/index.js";
import type { DocumentModel, Model, ToolModel } from "../model/model.js";
import { nameTools, toolUnit } from "./names.js";
import type { Plan } from "./plan-files.js";
import type { Render } from "./render.js";
import { bodyText, type NodeNames, refOfUri } from "./schema-node.js";
import type { CompiledTypes, TypePlace } from "./types/compile.js";
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
function placesOf(
  documents: ReadonlyMap<SchemaRef, TypePlace>,
  referred: Iterable<SchemaRef>,
): Map<SchemaRef, TypePlace> {
  const places = new Map(documents);
  const counts = new Map<string, number>();
  for (const ref of [...new Set(referred)].sort()) {
    const [path] = split(ref);
    const document = documents.get(path);
    if (places.has(ref) || document === undefined) continue;
    const count = (counts.get(path) ?? 0) + 1;
    counts.set(path, count);
    // Names of types have no underscore.
    places.set(ref, { name: `${document.name}_${count}`, unit: document.unit });
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
  { path, validation }: DocumentModel,
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
  const schema = JSON.parse(validation);
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
export function planValidators(model: Model, types: CompiledTypes, render: Render): Plan {
  const named = new Map(model.documents.map(({ path }) => [path, types.placeOf(path)]));
  const places = placesOf(named, [
    ...model.documents.flatMap(({ validation }) => referencesIn(validation)),
    ...model.tools.flatMap(armRefs),
  ]);
  const byPath = Map.groupBy(places.keys(), (ref) => split(ref)[0]);
  const plan: Plan = new Map();
  for (const document of model.documents) {
    const { path } = document;
    const { unit } = named.get(path)!;
    const file = schemaFile(document, { unit, own: byPath.get(path)! }, places);
    plan.set(`validators/schemas/${unit}.ts`, render("validator-schema", file));
  }
  const placeOf = (ref: SchemaRef): TypePlace => places.get(ref)!;
  const names = nameTools(model.toolNames);
  for (const tool of model.tools) {
    const view = validatorToolView(tool, names.get(tool.name)!, placeOf);
    plan.set(`validators/${toolUnit(tool.name)}.ts`, render("validator-tool", view));
  }
  plan.set("validators/index.ts", render("validators", validatorsView(model, places)));
  return plan;
}
