/** Values written out as literals of generated types, and what the type checker says of each. */
import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

export const strictOptions: ts.CompilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2024.d.ts"],
  noEmit: true,
  skipLibCheck: false,
  types: [],
  customConditions: ["adbind-source"],
};

/** Names of the types in a folder of generated types, by the schema each was made from. */
export function typeNames(folder: string): Map<string, string> {
  const names = new Map<string, string>();
  for (const file of ts.sys.readDirectory(path.join(folder, "types"), [".ts"])) {
    const text = readFileSync(file, "utf8");
    for (const [, source, name] of text.matchAll(
      /@generated from schema (\S+?)(?: \*\/|\n \*\/)\nexport (?:interface|type) (\w+)/g,
    )) {
      // What is derived from a schema comes after it and is longer.
      if (!names.has(source!) || names.get(source!)!.length > name!.length) names.set(source!, name!);
    }
  }
  return names;
}

/** The host of every program here. What is declared stays what it is from one to the next: it is read, parsed and bound once. */
const host = ts.createCompilerHost(strictOptions);
const parse = host.getSourceFile;
const parsed = new Map<string, ts.SourceFile | undefined>();
host.getSourceFile = (name, ...rest) => {
  if (!parsed.has(name)) parsed.set(name, parse(name, ...rest));
  return parsed.get(name);
};

export interface Literal {
  /** A type of the release, as an expression over its exports: `CreateMediaBuyArms["completed"]`. */
  type: string;
  value: unknown;
}

/** A fault the checker finds in a literal. */
export interface LiteralFault {
  code: number;
  message: string;
}

/** Codes that mean nothing but a name the type does not have (one with a suggestion, one without). */
export const unknownName: ReadonlySet<number> = new Set([2353, 2561]);

/**
 * Checks literals against the types of a release.
 * @param folder generated release; `adbind` must resolve from it
 * @returns faults of each literal, in order
 */
export function judgeLiterals(folder: string, literals: readonly Literal[]): LiteralFault[][] {
  const file = path.join(folder, "zz-literals.ts");
  const head = 'import type * as release from "./index.js";';
  const lines = literals.map(
    ({ type, value }, index) => `export const p${index}: release.${type} = ${JSON.stringify(value)};`,
  );
  const text = [head, ...lines].join("\n");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023);
  const program = ts.createProgram([file], strictOptions, {
    ...host,
    getSourceFile: (name, ...rest) => (name === file ? source : host.getSourceFile(name, ...rest)),
    fileExists: (name) => name === file || host.fileExists(name),
    readFile: (name) => (name === file ? text : host.readFile(name)),
  });
  const faults: LiteralFault[][] = literals.map(() => []);
  const root = program.getSourceFile(file)!;
  for (const { start, code, messageText } of [
    ...program.getSyntacticDiagnostics(root),
    ...program.getSemanticDiagnostics(root),
  ]) {
    const line = root.getLineAndCharacterOfPosition(start ?? 0).line - 1;
    const message = ts.flattenDiagnosticMessageText(messageText, "\n");
    if (line < 0) throw new Error(message);
    faults[line]!.push({ code, message });
  }
  return faults;
}
