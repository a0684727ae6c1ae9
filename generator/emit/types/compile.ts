/** The types of a release: one compile over one root, split into a file per schema. */
import { compile } from "json-schema-to-typescript";
import { ts } from "ts-morph";
import type { DocumentModel } from "../../model/model.js";
import { prepareTypes, ROOT_NAME } from "./prepare.js";
import { type Declaration, printDeclarations } from "./print.js";

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
}

const byCodePoint = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * @param documents every schema the types need
 * @param places places inside documents that need a type of their own, `<path>#<pointer>`
 * @param taken names that types must leave alone
 */
export async function compileTypes(
  documents: readonly DocumentModel[],
  places: readonly string[],
  taken: ReadonlySet<string>,
): Promise<CompiledTypes> {
  const { root, nameOf, origins } = prepareTypes(documents, places, taken);
  // maxItems -1: the default writes a tuple for every length up to 20. Formatting is ours: prettier takes longer than the rest.
  const text = await compile(root as never, ROOT_NAME, {
    bannerComment: "",
    format: false,
    maxItems: -1,
    unknownAny: true,
    // Every reference is inside the root by now; what is left of others must not open files.
    $refOptions: { resolve: { external: false } },
  });
  const source = ts.createSourceFile("types.ts", text, ts.ScriptTarget.ES2022, false);
  /** The compiler numbers a second declaration of one title; it belongs where the first does. */
  const originOf = (name: string) => origins.get(name) ?? origins.get(name.replace(/\d+$/, ""));
  const declarations = printDeclarations(source, (name) => {
    if (name === ROOT_NAME) return undefined;
    const origin = originOf(name);
    if (origin === undefined) throw new Error(`the type compiler declared ${name}, which no schema is called`);
    return `@generated from schema ${origin.source}`;
  });

  const declared = new Set(declarations.map(({ name }) => name));
  for (const [ref, name] of nameOf)
    if (!declared.has(name)) throw new Error(`the type compiler left out ${name} (${ref})`);

  const unitOf = (name: string): string => originOf(name)!.unit;
  const byUnit = Map.groupBy(declarations, ({ name }) => unitOf(name));
  const pathOf = new Map(documents.map(({ unit, path }) => [unit, path]));
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
    placeOf(ref) {
      const name = nameOf.get(ref);
      if (name === undefined) throw new Error(`no type was made for ${ref}`);
      return { name, unit: unitOf(name) };
    },
  };
}
