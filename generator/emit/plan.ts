/** IR -> every file of a release, path -> text. Nothing is written here. */
import { parse } from "@babel/parser";
import type { Model } from "../model/model.js";
import { type ImportExtension, importSuffix } from "./import-extension.js";
import { nameTools, takenNames, toolUnit } from "./names.js";
import type { Plan } from "./plan-files.js";
import { createRender, type Render } from "./render.js";
import { type CompiledTypes, compileTypes } from "./types/compile.js";
import {
  errorsView,
  eventsView,
  factsView,
  indexView,
  partOf,
  schemaPartView,
  schemasView,
  specialismsView,
  toolsView,
  toolView,
  typesView,
  typeView,
} from "./views.js";

export interface EmitOptions {
  /** Emit precompiled validators too. */
  standalone: boolean;
  importExtension: ImportExtension;
  /** Give objects that a schema does not close an index signature. */
  open: boolean;
}

/** Two views that would write one path: a fault of the names room, never of the release. */
function addTo(plan: Plan): (path: string, text: string) => void {
  return (path, text) => {
    if (plan.has(path)) throw new Error(`two files would be written to ${path}`);
    plan.set(path, text);
  };
}

function planTypes(
  add: (path: string, text: string) => void,
  types: CompiledTypes,
  model: Model,
  render: Render,
): void {
  const digests = new Map(model.documents.map(({ path, digest }) => [path, digest]));
  for (const unit of types.units)
    add(`types/${unit.unit}.ts`, render("type", typeView(unit, digests.get(unit.source)!)));
  add("types/index.ts", render("types", typesView(types)));
}

function planTools(
  add: (path: string, text: string) => void,
  types: CompiledTypes,
  model: Model,
  render: Render,
): void {
  const digests = new Map(model.documents.map(({ path, digest }) => [path, digest]));
  const names = nameTools(model.toolNames);
  for (const tool of model.tools) {
    add(
      `tools/${toolUnit(tool.name)}.ts`,
      render(
        "tool",
        toolView(tool, names.get(tool.name)!, types, (path) => digests.get(path)!),
      ),
    );
  }
  add("tools/index.ts", render("tools", toolsView(model)));
}

function planSchemas(add: (path: string, text: string) => void, model: Model, render: Render): void {
  const parts = Map.groupBy(
    model.documents.map(({ path, validation }) => ({ path, json: validation })),
    partOf,
  );
  for (const [part, documents] of parts) add(`schemas/${part}.ts`, render("schemas-part", schemaPartView(documents)));
  add("schemas/index.ts", render("schemas", schemasView([...parts.keys()])));
}

/**
 * Plans the files of a release.
 * @throws Error when a file would not parse, which is a fault of adbind
 */
export async function planRelease(model: Model, options: EmitOptions): Promise<Plan> {
  const render = createRender({ extension: importSuffix(options.importExtension) });
  const taken = takenNames(model.toolNames);
  const types = await compileTypes(model, { taken, open: options.open });
  const plan: Plan = new Map();
  const add = addTo(plan);
  planTypes(add, types, model, render);
  planTools(add, types, model, render);
  planSchemas(add, model, render);
  add("errors.ts", render("errors", errorsView(model)));
  add("specialisms.ts", render("specialisms", specialismsView(model)));
  add("events.ts", render("events", eventsView(model, types)));
  add("facts.ts", render("facts", factsView(model)));
  add("index.ts", render("index", indexView(model)));
  if (options.standalone) {
    const { planValidators } = await import("./standalone.js");
    for (const [path, text] of planValidators(model, types, render)) add(path, text);
  }
  checkSyntax(plan);
  return new Map([...plan].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Parses every planned file; type-checking is for the compiler of whoever uses them. */
function checkSyntax(plan: Plan): void {
  for (const [name, text] of plan) {
    try {
      parse(text, { sourceType: "module", plugins: ["typescript"], attachComment: false });
    } catch (error) {
      throw new Error(`${name} would not parse: ${(error as Error).message}`);
    }
  }
}
