/** The names that docs/glossary.md says go, and those that went, held against the code. */
import ts from "typescript";
import type { Source } from "./source.js";

export interface Mark {
  readonly term: string;
  /** An identifier, or a file's name. */
  readonly name: string;
  /** A folder (`runtime/buyer/`) or file outside of which the name may stand; everywhere when left out. */
  readonly place?: string;
}

export interface Glossary {
  readonly terms: readonly string[];
  readonly goes: readonly Mark[];
  readonly gone: readonly Mark[];
}

/** The marks of a cell: `name`, or `name` in `place`, parted by commas. */
function marksOf(term: string, cell: string): Mark[] {
  const marks = [...cell.matchAll(/`([^`]+)`(?: in `([^`]+)`)?/g)];
  const rest = cell.replace(/`[^`]+`(?: in `[^`]+`)?/g, "").replace(/[,\s]/g, "");
  if (rest !== "") throw new Error(`docs/glossary.md, "${term}": "${cell.trim()}" is no list of \`name\` in \`place\``);
  return marks.map(([, name = "", place]) => ({ term, name, ...(place !== undefined && { place }) }));
}

/** Reads the glossary's tables: `| Term | Means | Where | Goes | Gone |`. */
export function readGlossary(text: string): Glossary {
  const rows = text
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\| (Term|---) /.test(line))
    .map((line) => {
      const cells = line.split("|").slice(1, -1);
      if (cells.length !== 5)
        throw new Error(`docs/glossary.md: a row has five cells, this has ${cells.length}: ${line}`);
      const [term = "", , , goes = "", gone = ""] = cells;
      return { term: term.trim(), goes, gone };
    });
  return {
    terms: rows.map(({ term }) => term),
    goes: rows.flatMap(({ term, goes }) => marksOf(term, goes)),
    gone: rows.flatMap(({ term, gone }) => marksOf(term, gone)),
  };
}

/** Every identifier of the code and the name of every file, each with the files it is found in. */
export function namesOf(sources: readonly Source[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { path, tree } of sources) {
    if (tree === undefined || /^test\/house[./]/.test(path)) continue;
    const names = new Set([path.slice(path.lastIndexOf("/") + 1)]);
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node)) names.add(node.text);
      ts.forEachChild(node, visit);
    };
    visit(tree);
    for (const name of names) found.set(name, [...(found.get(name) ?? []), path]);
  }
  return found;
}

/** What glossary and code do not agree on, as lines to act on. */
export function disagreements({ goes, gone }: Glossary, names: ReadonlyMap<string, readonly string[]>): string[] {
  const filesWith = ({ name, place = "" }: Mark): string[] =>
    (names.get(name) ?? []).filter((file) => file.startsWith(place));
  const called = ({ name, place }: Mark): string => (place === undefined ? name : `${name} in ${place}`);
  const left = goes
    .filter((mark) => filesWith(mark).length === 0)
    .map(
      (mark) => `"${mark.term}": nobody says ${called(mark)} any more: move it from Goes to Gone in docs/glossary.md`,
    );
  const back = gone
    .filter((mark) => filesWith(mark).length > 0)
    .map((mark) => `"${mark.term}": ${called(mark)} went, and is back in ${filesWith(mark).join(", ")}: use the term`);
  return [...left, ...back];
}
