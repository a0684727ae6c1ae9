/** What commands share in printing. */
import path from "node:path";
import type { Finding } from "../generator/finding.js";
import { type AlikeFindings, foldFindings, formatFinding } from "../generator/finding.js";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";

/** Folder the user stands in: `./run` changes to the project's. */
const userFolder = (): string => process.env.ADBIND_CWD ?? process.cwd();

/** A path as the user meant it. */
export const userPath = (given: string): string => path.resolve(userFolder(), given);

/** A path as the user would write it. */
export const shownPath = (absolute: string): string => path.relative(userFolder(), absolute) || ".";

/** A word for a POSIX shell: as it is where that is safe, else quoted. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

export const printJson = (value: unknown): void => console.log(JSON.stringify(value, null, 2));

/** Places of findings that are alike that are listed, unless all are wanted: enough to see what they have in common. */
const SHOWN_PLACES = 4;

const indent = " ".repeat("warning ".length);

/** A line of a finding: part of it is what stands in the release, whose author is nobody's acquaintance. */
const printFound = (line: string): void => console.error(printable(line.replace(/\s*[\r\n\t]+\s*/g, " ")));

/** A finding, or several that are alike: said once, with their number and places. */
function printAlike(label: string, { first, places }: AlikeFindings, everything: boolean): void {
  const level = first.level.padEnd("warning".length);
  if (places.length === 1) {
    printFound(`${level} ${label}/${formatFinding(first)}`);
    return;
  }
  printFound(`${level} ${label}: ${first.message} [${first.rule}], ${places.length} places. ${first.remedy}`);
  const shown = everything || places.length <= SHOWN_PLACES + 1 ? places : places.slice(0, SHOWN_PLACES);
  for (const place of shown) printFound(`${indent}${place}`);
  if (shown.length < places.length)
    printFound(`${indent}and ${places.length - shown.length} more (adbind lint --all lists them)`);
}

/** What is printed of the findings of a release. */
export interface FindingsShown {
  warnings?: boolean;
  /** Every place of findings that are alike. */
  all?: boolean;
}

/** Errors of one release, and its warnings where they are wanted, errors first. */
export function printFindings(
  label: string,
  findings: readonly Finding[],
  { warnings = false, all = false }: FindingsShown = {},
): void {
  const wanted = findings.filter(({ level }) => warnings || level === "error");
  for (const level of ["error", "warning"])
    for (const alike of foldFindings(wanted.filter((one) => one.level === level))) printAlike(label, alike, all);
}

/** A number above 0 of the command line. @throws AdbindError `usage` */
export function wholeNumber(text: string, what: string, remedy: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number > 0) return number;
  throw new AdbindError("usage", `${text} is no ${what}`, { remedy });
}

export const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;
