/** The table of docs/install.md: what each use takes, as it was measured. */

import path from "node:path";
import { type Installation, repository } from "./packages.js";
import { megabytes, type Weight } from "./weigh.js";

/** Where the table stands. */
export const installPage = path.join(repository, "docs/install.md");

/** The head of the table, which nothing else in the page looks like. */
const HEAD = "| use | command | entries | packages | MB | at most |\n| --- | --- | --- | --- | --- | --- |\n";

/** What of a row is not measured. */
export function saidCells({ what, package: name, peers, entries, bounds }: Installation): string[] {
  const most = bounds === undefined ? "" : `${bounds.packages}, ${bounds.megabytes} MB`;
  const shown = entries.map((entry) => `\`${entry === "" ? name : `${name}/${entry}`}\``).join(", ");
  return [what, `\`npm install ${[name, ...peers].join(" ")}\``, shown, most];
}

/** A row of the table. */
export function rowOf(one: Installation, { packages, bytes }: Weight): string {
  const [what, line, entries, most] = saidCells(one);
  return `| ${[what, line, entries, packages, megabytes(bytes), most].join(" | ")} |`;
}

/** The page with other rows. @param page its text */
export function withRows(page: string, rows: readonly string[]): string {
  const [before, after] = page.split(HEAD) as [string, string];
  return `${before}${HEAD}${rows.map((row) => `${row}\n`).join("")}${after.replace(/^(?:\|.*\n)*/, "")}`;
}

/** The rows of a page, as cells. */
export const rowsIn = (page: string): string[][] =>
  /^(?:\|.*\n)*/
    .exec(page.split(HEAD)[1] ?? "")![0]
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.slice(2, -2).split(" | "));
