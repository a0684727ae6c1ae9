/** The rules of the house by name, and what is judged against the list of what breaks them today. */
import { backslashRule } from "./backslashes.js";
import { neverCastRule } from "./casts.js";
import { circlesRule, folderPairsRule } from "./circles.js";
import { guardsRule } from "./guards.js";
import { dialectRule, duplicateNamesRule, statusListRule } from "./names.js";
import { ranksRule } from "./ranks.js";
import { defaultExportRule, diskRule, printRule, protocolNameRule, roomsRule } from "./rooms.js";
import { fileSizeRule, functionSizeRule } from "./sizes.js";
import type { Finding, Rule, Source } from "./source.js";
import { testNamesRule } from "./test-names.js";

export const rules = {
  "imports point downwards between rooms": roomsRule,
  "imports point down a room's ranks": ranksRule,
  "no import circle between files": circlesRule,
  "no two folders import each other": folderPairsRule,
  "only load, render and disk of the generator touch the file system": diskRule,
  "only cli prints or exits": printRule,
  "exports are named": defaultExportRule,
  "no protocol's name is in the code": protocolNameRule,
  "a file has at most 300 lines": fileSizeRule,
  "a function has at most 60 lines": functionSizeRule,
  "an exported name means one thing": duplicateNamesRule,
  "a type guard is written once": guardsRule,
  "a database engine is named in its own folder only": dialectRule,
  "the statuses of a task are listed once": statusListRule,
  "nothing is cast to never": neverCastRule,
  "no string of SQL has a backslash": backslashRule,
  "a test's name states a fact": testNamesRule,
} satisfies Record<string, Rule>;

export type RuleName = keyof typeof rules;

/**
 * What breaks a rule today and is known: the subject of the issue that will mend it, or why it stays for good; below it
 * each finding's key and how large it is (lines of a file or function, lines naming an engine, files exporting a name,
 * else places).
 */
export type Exceptions = Readonly<Record<string, Readonly<Record<string, number>>>>;

interface Measured {
  readonly size: number;
  readonly first: Finding;
}

/** Findings with one key are one thing to mend, as large as their largest, or as many as they are. */
function measured(findings: readonly Finding[]): Map<string, Measured> {
  const found = new Map<string, Measured>();
  for (const finding of findings) {
    const known = found.get(finding.key);
    const size = finding.size === undefined ? (known?.size ?? 0) + 1 : Math.max(finding.size, known?.size ?? 0);
    found.set(finding.key, { size, first: known?.first ?? finding });
  }
  return found;
}

/** Every way in which sources and list differ, as lines to act on; none when the rule holds but for what is listed. */
export function judge(rule: Rule, sources: readonly Source[], listed: Exceptions): string[] {
  const found = measured(rule(sources));
  const known = new Map(Object.values(listed).flatMap((keys) => Object.entries(keys)));
  const fresh = [...found].flatMap(([key, { size, first }]) => {
    const most = known.get(key);
    const place = `${first.file}:${first.line} ${first.message}`;
    if (most === undefined) return [place];
    if (size > most) return [`${place} (known, but it grew from ${most} to ${size}: "${key}")`];
    // What is larger on the list than in the code would let it grow back unseen.
    return size < most ? [`"${key}" has shrunk from ${most} to ${size}: write ${size} on the list`] : [];
  });
  const stale = [...known.keys()]
    .filter((key) => !found.has(key))
    .map((key) => `"${key}" breaks this rule no longer: take it off the list, and lower the number in house.test.ts`);
  return [...fresh, ...stale];
}
