/**
 * Which package ships which built file. `adbind` has all that its own entries reach, by values or by types; `adbind-cli` has what
 * only its entries reach, and takes the rest from `adbind`, so that a class is there once.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { type PackageName, startsOf } from "./packages.js";

/** A module that a built file names. */
export interface NamedImport {
  readonly specifier: string;
  /** Where the specifier stands in the text, without its quotes. */
  readonly start: number;
}

/** What a built file imports, exports from or loads, and what its declarations name. */
export const namedIn = (text: string): NamedImport[] =>
  ts.preProcessFile(text, true, true).importedFiles.map(({ fileName, pos }) => ({
    specifier: fileName,
    // The position of the opening quote.
    start: text.indexOf(fileName, pos),
  }));

/** A module as a path without its ending, from the folder of the build. */
const stemOf = (file: string): string => file.replace(/(\.d\.ts|\.js)$/, "");

/** The files of a module that the compiler has written. */
const filesOf = (build: string, stem: string): string[] =>
  [".js", ".d.ts"].map((ending) => `${stem}${ending}`).filter((file) => existsSync(path.join(build, file)));

/** Relative imports of a built file, as stems. */
const importedBy = (build: string, file: string): string[] =>
  namedIn(readFileSync(path.join(build, file), "utf8"))
    .filter(({ specifier }) => specifier.startsWith("."))
    .map(({ specifier }) => stemOf(path.posix.join(path.posix.dirname(file), specifier)));

/** All that is reached from some built files. @throws Error for a file that was not built */
function reached(build: string, starts: readonly string[]): Set<string> {
  const found = new Set(starts.map(stemOf));
  for (const stem of found) {
    const files = filesOf(build, stem);
    if (files.length === 0) throw new Error(`${stem} was not built: see what names it in a package.json or imports it`);
    for (const file of files) for (const one of importedBy(build, file)) found.add(one);
  }
  return found;
}

/** Stems of the built modules, by the package that ships them. @param build folder the compiler has written */
export function splitBuild(build: string): Readonly<Record<PackageName, ReadonlySet<string>>> {
  const light = reached(build, startsOf("adbind"));
  const all = reached(build, startsOf("adbind-cli"));
  return { adbind: light, "adbind-cli": new Set([...all].filter((stem) => !light.has(stem))) };
}

/** The files of some modules, sorted. */
export const builtFiles = (build: string, stems: ReadonlySet<string>): string[] =>
  [...stems].sort().flatMap((stem) => filesOf(build, stem));

/** A file of `adbind-cli`, with what `adbind` ships named as that package's. @param file from the folder of the build */
export function withoutOwn(text: string, file: string, light: ReadonlySet<string>): string {
  let out = text;
  for (const { specifier, start } of namedIn(text).sort((a, b) => b.start - a.start)) {
    if (!specifier.startsWith(".")) continue;
    const stem = stemOf(path.posix.join(path.posix.dirname(file), specifier));
    if (light.has(stem)) out = `${out.slice(0, start)}adbind/internal/${stem}.js${out.slice(start + specifier.length)}`;
  }
  return out;
}
