/** IR -> every file of a release, path -> text. Nothing is written here. */
import { ts } from "ts-morph";
import type { Model } from "../model/model.js";
import { takenNames, toolUnit } from "../model/names.js";
import { type ImportExtension, importSuffix } from "./import-extension.js";
import type { Plan } from "./plan-files.js";
import { createRender, type Render } from "./render.js";
import { validationSchemas } from "./schemas.js";
import { type CompiledTypes, compileTypes } from "./types/compile.js";
import {
  errorsView,
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
  const schemaOf = new Map(model.documents.map(({ path, schema }) => [path, schema]));
  for (const unit of types.units)
    add(`types/${unit.unit}.ts`, render("type", typeView(unit, schemaOf.get(unit.source))));
  add("types/index.ts", render("types", typesView(types)));
}

function planTools(
  add: (path: string, text: string) => void,
  types: CompiledTypes,
  model: Model,
  render: Render,
): void {
  const schemaOf = new Map(model.documents.map(({ path, schema }) => [path, schema]));
  for (const tool of model.tools) {
    add(
      `tools/${toolUnit(tool.name)}.ts`,
      render(
        "tool",
        toolView(tool, types, (path) => schemaOf.get(path)),
      ),
    );
  }
  add("tools/index.ts", render("tools", toolsView(model)));
}

function planSchemas(add: (path: string, text: string) => void, model: Model, render: Render): void {
  const parts = Map.groupBy(validationSchemas(model.documents), partOf);
  for (const [part, documents] of parts) add(`schemas/${part}.ts`, render("schemas-part", schemaPartView(documents)));
  add("schemas/index.ts", render("schemas", schemasView([...parts.keys()])));
}

/**
 * Plans the files of a release.
 * @throws Error when a file would not parse, which is a fault of adbind
 */
export async function planRelease(model: Model, options: EmitOptions): Promise<Plan> {
  const render = createRender({ extension: importSuffix(options.importExtension) });
  const places = model.tools.flatMap(({ arms }) =>
    arms.flatMap(({ schema }) => (schema?.includes("#") ? [schema] : [])),
  );
  const types = await compileTypes(model.documents, places, takenNames(model.tools.map(({ name }) => name)));
  const plan: Plan = new Map();
  const add = addTo(plan);
  planTypes(add, types, model, render);
  planTools(add, types, model, render);
  planSchemas(add, model, render);
  add("errors.ts", render("errors", errorsView(model)));
  add("specialisms.ts", render("specialisms", specialismsView(model)));
  add("index.ts", render("index", indexView(model)));
  if (options.standalone) {
    const { planValidators } = await import("./standalone.js");
    for (const [path, text] of planValidators(model, render)) add(path, text);
  }
  checkSyntax(plan);
  return new Map([...plan].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Parses every planned file; type-checking is for the compiler of whoever uses them. A program would report the same
 * diagnostics and take twice as long to build, since it looks for what each file imports.
 */
function checkSyntax(plan: Plan): void {
  const options = { languageVersion: ts.ScriptTarget.ES2022, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  for (const [name, text] of plan) {
    const source = ts.createSourceFile(name, text, options) as ts.SourceFile & {
      parseDiagnostics: readonly ts.Diagnostic[];
    };
    const [fault] = source.parseDiagnostics;
    if (fault !== undefined) {
      throw new Error(`${name} would not parse: ${ts.flattenDiagnosticMessageText(fault.messageText, " ")}`);
    }
  }
}
