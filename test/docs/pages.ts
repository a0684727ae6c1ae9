/** The repository's pages and comments, for tests of what they point to. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { fragmentOf } from "../../cli/dev/reference/fragment.js";

export const root = path.resolve(import.meta.dirname, "../..");

export const read = (file: string): string => readFileSync(path.join(root, file), "utf8");

const withoutCode = (text: string): string => text.replace(/^(```|~~~)[\s\S]*?^\1/gm, "");

/** Every fragment of a page; a heading that stands there again gets a number. */
export function fragmentsOf(text: string): Set<string> {
  const found = new Set<string>();
  for (const [, heading = ""] of withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const fragment = fragmentOf(heading);
    let name = fragment;
    for (let count = 1; found.has(name); count++) name = `${fragment}-${count}`;
    found.add(name);
  }
  return found;
}

/** Where the links of a page lead, as they are written. */
export const linksOf = (text: string): string[] =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);

/** The comments of a file, one below the other: of TypeScript and JavaScript, else those that begin with `#`. */
export const commentsOf = (file: string, text: string): string =>
  (/\.[cm]?[jt]s$/.test(file)
    ? (text.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g) ?? [])
    : (text.match(/(?<=^|\s)#\s[^\n]*/g) ?? [])
  ).join("\n");

/** A page that a comment points to: its path from the root, and perhaps a fragment of it. */
const MENTIONED = /\bdocs\/[\w./-]+?\.md(?:#([\w-]+))?/g;

/** What is wrong with the pages that a text mentions; `fragments` gives those of a page, undefined for one that is not there. */
export const wrongPages = (text: string, fragments: (page: string) => ReadonlySet<string> | undefined): string[] =>
  [...text.matchAll(MENTIONED)].flatMap(([mention, fragment]) => {
    const there = fragments(mention.split("#")[0] ?? "");
    if (there === undefined) return [`${mention}: there is no such page`];
    return fragment !== undefined && !there.has(fragment) ? [`${mention}: the page has no such heading`] : [];
  });
