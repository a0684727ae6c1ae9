/** The types of a release: compiled a few dozen at a time, split into a file per schema. */
import { compile } from "json-schema-to-typescript";
import type { Model, ToolModel } from "../../model/model.js";
import type { TypeNames } from "./naming.js";
import { type Declaration, printDeclarations } from "./print.js";
import type { RenderOptions } from "./render.js";
import type { Rendered } from "./rendered.js";
import { ROOT_NAME, renderRoots } from "./root.js";

/** A type of a release: its name, and the file it is in. */
export interface TypePlace {
  name: string;
  unit: string;
}

export interface TypeUnit {
  /** File name without extension. */
  unit: string;
  /** Path of the schema it was made from. */
  source: string;
  declarations: Declaration[];
  imports: { unit: string; names: string[] }[];
}

export interface CompiledTypes {
  units: TypeUnit[];
  /** Type for `<path>` or `<path>#<pointer>`. */
  placeOf(ref: string): TypePlace;
  /** Type of what an arm carries; undefined where the release says nothing of it. */
  armOf(tool: ToolModel, status: string): TypePlace | undefined;
}

const byCodePoint = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The declarations of one root. */
async function compileRoot(schema: Rendered, names: TypeNames): Promise<Declaration[]> {
  // maxItems -1: the default writes a tuple for every length up to 20. Formatting is ours: prettier takes longer than the rest.
  const text = await compile(schema as never, ROOT_NAME, {
    bannerComment: "",
    format: false,
    maxItems: -1,
    unknownAny: true,
    // A type refers to another by its name: a reference would be none of ours, and must not open files.
    $refOptions: { resolve: { external: false } },
  });
  return printDeclarations(text, (name) => {
    if (name === ROOT_NAME) return undefined;
    const named = names.byName.get(name);
    if (named === undefined) throw new Error(`the type compiler declared ${name}, which no schema is called`);
    return `@generated from schema ${named.source}`;
  });
}

/**
 * @param model documents, places and arms
 * @param options `taken`: names that types must leave alone
 */
export async function compileTypes(
  model: Pick<Model, "documents" | "places" | "resolve" | "tools">,
  options: RenderOptions & { taken: ReadonlySet<string> },
): Promise<CompiledTypes> {
  const { schemas, names } = renderRoots(model, options);
  const declarations: Declaration[] = [];
  // What was compiled is let go before the next is begun.
  for (let schema = schemas.pop(); schema !== undefined; schema = schemas.pop())
    declarations.push(...(await compileRoot(schema, names)));
  const declared = new Set(declarations.map(({ name }) => name));
  for (const { name, source: from } of names.byName.values())
    if (!declared.has(name)) throw new Error(`the type compiler left out ${name} (${from})`);

  const unitOf = (name: string): string => names.byName.get(name)!.unit;
  const byUnit = Map.groupBy(declarations, ({ name }) => unitOf(name));
  const pathOf = new Map(model.documents.map(({ path }) => [names.at(path).unit, path]));
  const units = [...byUnit.keys()].sort(byCodePoint).map((unit): TypeUnit => {
    const own = byUnit.get(unit)!.sort((a, b) => byCodePoint(a.name, b.name));
    const foreign = [...new Set(own.flatMap(({ uses }) => [...uses]))].filter(
      (name) => declared.has(name) && unitOf(name) !== unit,
    );
    const imports = [...Map.groupBy(foreign.sort(byCodePoint), unitOf)]
      .map(([from, names]) => ({ unit: from, names }))
      .sort((a, b) => byCodePoint(a.unit, b.unit));
    return { unit, source: pathOf.get(unit)!, declarations: own, imports };
  });
  return {
    units,
    placeOf: (ref) => names.at(ref),
    armOf: ({ arms }, status) => {
      const shape = arms.find((arm) => arm.status === status)?.shape;
      if (shape === undefined) return undefined;
      return names.byShape.get(shape) ?? (shape.kind === "reference" ? names.at(shape.to) : undefined);
    },
  };
}
