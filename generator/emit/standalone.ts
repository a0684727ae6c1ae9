/**
 * Precompiled validators, for runtimes that may not compile code (`--standalone`). ajv compiles the whole release into one
 * module; it is taken apart here by declaration, a file per schema, so that a bundle holds what its tools reach.
 */
import { Ajv } from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import formatsModule from "ajv-formats";
import { ts } from "ts-morph";
import { schemaUri } from "../../runtime/contract.js";
import type { Model, ToolModel } from "../model/model.js";
import { toolUnit } from "./names.js";
import type { Plan } from "./plan.js";
import type { Render } from "./render.js";
import { standaloneModule } from "./symbols.js";
import type { CompiledTypes } from "./types/compile.js";
import { bannerOf, validatorsView, validatorToolView } from "./views.js";

/** Name in the compiled module of the function for a schema. */
const exportName = (index: number): string => `root${index}`;

function compileAll(model: Model, refs: readonly string[]): string {
  const ajv = new Ajv({
    strict: false,
    validateSchema: false,
    logger: false,
    code: { source: true, esm: true, lines: true },
  });
  formatsModule.default(ajv);
  for (const { path, validation } of model.documents) {
    const schema = JSON.parse(validation);
    // With an id the compiler says in a comment which function is which document's.
    ajv.addSchema(typeof schema === "object" ? { $id: schemaUri(path), ...schema } : schema, schemaUri(path));
  }
  return standaloneCode.default(ajv, Object.fromEntries(refs.map((ref, index) => [exportName(index), schemaUri(ref)])));
}

interface Piece {
  name: string;
  text: string;
  uses: Set<string>;
}

/** ajv's `require`s, by what they ask for. */
const supports = [
  { pattern: /require\("ajv-formats\/dist\/formats"\)\.fullFormats/g, name: "formats" },
  { pattern: /require\("ajv\/dist\/runtime\/equal"\)\.default/g, name: "equal" },
  { pattern: /require\("ajv\/dist\/runtime\/ucs2length"\)\.default/g, name: "ucs2length" },
];

/** Names the compiler gives its declarations: `validate12`, `schema3`, `func0`, `formats2`, `pattern9`, `wrapper1`. */
const declared = /\b(?:validate|schema|func|formats|pattern|wrapper|root|default|keyword)\d+\b/g;

/** The declarations of a compiled module; what is said of one later (`validate1.evaluated = ...`) goes with it. */
function takeApart(code: string): { pieces: Map<string, Piece>; roots: Map<string, string> } {
  const source = ts.createSourceFile("all.js", code, ts.ScriptTarget.ES2022, false, ts.ScriptKind.JS);
  const pieces = new Map<string, Piece>();
  const roots = new Map<string, string>();
  for (const statement of source.statements) {
    const text = code.slice(statement.pos, statement.end).trim();
    const exported = /^export const (\w+) = (\w+);?$/.exec(text);
    if (exported !== null) {
      roots.set(exported[1]!, exported[2]!);
      continue;
    }
    const name = /^(?:function|const|let|var) (\w+)|^(\w+)\.evaluated/.exec(text);
    if (name === null) continue;
    const key = name[1] ?? name[2]!;
    const known = pieces.get(key);
    const uses = new Set([...text.matchAll(declared)].map((match) => match[0]).filter((used) => used !== key));
    pieces.set(key, {
      name: key,
      text: known === undefined ? text : `${known.text}\n${text}`,
      uses: known === undefined ? uses : new Set([...known.uses, ...uses]),
    });
  }
  return { pieces, roots };
}

/** Constants that stand on their own; each file has its copy, so that none imports another for the sake of a pattern. */
const isLeaf = ({ name, uses }: Piece): boolean => uses.size === 0 && /^(?:formats|func|pattern)\d+$/.test(name);

/** Which file each declaration goes to: its document's, or the one of the first document that uses it. */
function assignUnits(
  pieces: Map<string, Piece>,
  unitOf: ReadonlyMap<string, string>,
  rootUris: ReadonlyMap<string, string>,
): Map<string, string> {
  const units = new Map([...rootUris].map(([name, uri]) => [name, unitOf.get(uri)!]));
  for (const { name, text } of pieces.values()) {
    const uri = /\/\*# sourceURL="([^"]+)" \*\//.exec(text)?.[1];
    const unit = uri === undefined ? undefined : unitOf.get(uri);
    if (unit !== undefined) units.set(name, unit);
  }
  const owned = [...units].sort(([, a], [, b]) => (a < b ? -1 : 1));
  for (const [name, unit] of owned) {
    const pending = [...pieces.get(name)!.uses];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (units.has(next) || !pieces.has(next) || isLeaf(pieces.get(next)!)) continue;
      units.set(next, unit);
      pending.push(...pieces.get(next)!.uses);
    }
  }
  return units;
}

function unitView(
  pieces: ReadonlyMap<string, Piece>,
  members: readonly Piece[],
  units: ReadonlyMap<string, string>,
  unit: string,
  source: string,
): object {
  const leaves = [...new Set(members.flatMap(({ uses }) => [...uses]))]
    .map((name) => pieces.get(name))
    .filter((piece): piece is Piece => piece !== undefined && isLeaf(piece));
  const exported = members.map(({ text }) => text.replace(/^(function|const|let|var) /, "export $1 "));
  let body = [...leaves.map(({ text }) => text), ...exported].join("\n");
  for (const { pattern, name } of supports) body = body.replace(pattern, name);
  const foreign = [...new Set(members.flatMap(({ uses }) => [...uses]))]
    .filter((name) => units.has(name) && units.get(name) !== unit)
    .sort();
  return {
    ...bannerOf([source], body),
    standaloneModule,
    supports: supports.map(({ name }) => name).filter((name) => new RegExp(`\\b${name}\\b(?!\\d)`).test(body)),
    imports: [...Map.groupBy(foreign, (name) => units.get(name)!)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([from, names]) => ({ unit: from, names })),
    body,
  };
}

/** Schemas a tool's validators judge by. */
const refsOf = (tool: ToolModel): string[] => [
  tool.request,
  ...tool.arms.flatMap(({ schema }) => (schema === undefined ? [] : [schema])),
];

/** Files of the precompiled validators: `validators/<tool>.ts`, typed, over `validators/schemas/*.ts`. */
export function planValidators(model: Model, types: CompiledTypes, render: Render): Plan {
  const refs = [...new Set(model.tools.flatMap(refsOf))].sort();
  const { pieces, roots } = takeApart(compileAll(model, refs));
  const rootUris = new Map(refs.map((ref, index) => [roots.get(exportName(index))!, schemaUri(ref.split("#")[0]!)]));
  const units = assignUnits(
    pieces,
    new Map(model.documents.map(({ path }) => [schemaUri(path), types.placeOf(path).unit])),
    rootUris,
  );
  const pathOf = new Map(model.documents.map(({ path }) => [types.placeOf(path).unit, path]));
  const plan: Plan = new Map();
  const byUnit = Map.groupBy(
    [...pieces.values()].filter(({ name }) => units.has(name)),
    ({ name }) => units.get(name)!,
  );
  for (const [unit, own] of byUnit) {
    plan.set(
      `validators/schemas/${unit}.ts`,
      render("validator-code", unitView(pieces, own, units, unit, pathOf.get(unit)!)),
    );
  }
  const functionOf = (ref: string): { name: string; unit: string } => {
    const name = roots.get(exportName(refs.indexOf(ref)))!;
    return { name, unit: units.get(name)! };
  };
  for (const tool of model.tools) {
    plan.set(
      `validators/${toolUnit(tool.name)}.ts`,
      render("validator-tool", validatorToolView(tool, types, functionOf)),
    );
  }
  plan.set("validators/index.ts", render("validators", validatorsView(model)));
  return plan;
}
