/** What commands share in printing. */
import path from "node:path";
import type { Finding } from "../generator/finding.js";
import { formatFinding } from "../generator/finding.js";
import { AdbindError } from "../runtime/errors.js";

/** Folder the user stands in: `./run` changes to the project's. */
const userFolder = (): string => process.env.ADBIND_CWD ?? process.cwd();

/** A path as the user meant it. */
export const userPath = (given: string): string => path.resolve(userFolder(), given);

/** A path as the user would write it. */
export const shownPath = (absolute: string): string => path.relative(userFolder(), absolute) || ".";

export const printJson = (value: unknown): void => console.log(JSON.stringify(value, null, 2));

/** Errors and warnings of one release, errors first; warnings are folded to a count unless all are wanted. */
export function printFindings(label: string, findings: readonly Finding[], everything = false): void {
  const errors = findings.filter(({ level }) => level === "error");
  const warnings = findings.filter(({ level }) => level === "warning");
  for (const finding of errors) console.error(`error   ${label}/${formatFinding(finding)}`);
  if (everything) for (const finding of warnings) console.error(`warning ${label}/${formatFinding(finding)}`);
}

/** Control characters of whatever origin must not reach a terminal. */
export const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "?");

/** A number above 0 of the command line. @throws AdbindError `usage` */
export function wholeNumber(text: string, what: string, remedy: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number > 0) return number;
  throw new AdbindError("usage", `${text} is no ${what}`, { remedy });
}

export const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;
