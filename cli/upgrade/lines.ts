/** A worksheet for a person, as Markdown: it is kept beside the work. */
import { plural } from "../output.js";
import type { AppliedUpgrade } from "./apply.js";
import type { ProjectProof } from "./proof.js";
import type { Worksheet, WorksheetItem } from "./worksheet.js";

const at = (usedAt: readonly string[]): string => (usedAt.length === 0 ? "" : ` (${usedAt.join(", ")})`);

const itemLines = ({ verdict, rule, where, message, fix, usedAt, findings }: WorksheetItem): string[] => [
  `- [ ] ${verdict}: ${where}: ${message} [${rule}] ${findings[0]}`,
  ...(usedAt.length > 0 ? [`      at ${usedAt.join(", ")}`] : []),
  `      do: ${fix}`,
];

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", `## ${title}`, "", ...lines];

const short = (value: unknown): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
};

export function worksheetLines(sheet: Worksheet): string[] {
  const all = [...sheet.byHand, ...sheet.graded];
  const of = (verdict: WorksheetItem["verdict"]): number => all.filter((one) => one.verdict === verdict).length;
  return [
    `# ${sheet.project}: ${sheet.from} to ${sheet.to}`,
    "",
    `Touched by ${plural(sheet.findings.length, "finding")}: ${of("broken")} broken, ${of("undecided")} undecided.`,
    ...section("By hand", sheet.byHand.flatMap(itemLines)),
    ...section(
      "Deprecated tools in use",
      sheet.deprecated.map(
        ({ tool, deprecatedIn, successors, usedAt }) =>
          `- [ ] ${tool} (deprecated in ${deprecatedIn})${successors.length > 0 ? `: move to ${successors.join(", ")}` : ""}${at(usedAt)}`,
      ),
    ),
    ...section(
      "Signing, discovery, envelope, webhooks",
      sheet.facts.map(({ fact, from, to, shown }) => `- [ ] ${fact}: ${short(from)} -> ${short(to)} [${shown}]`),
    ),
    ...section("Graded otherwise", sheet.graded.flatMap(itemLines)),
  ];
}

export const appliedLines = ({ files, byHand }: AppliedUpgrade): string[] => [
  ...section(
    "Done",
    files.map((file) => `- [x] ${file}`),
  ),
  ...section(
    "Left by the codemods",
    byHand.map((what) => `- [ ] ${what}`),
  ),
];

/** Faults of types that are listed. */
const MOST_FAULTS = 60;

export function proofLines({ types, faults, tests, output }: ProjectProof): string[] {
  const listed = faults
    .slice(0, MOST_FAULTS)
    .map(({ file, line, code, message }) => `- [ ] ${file}:${line} ${code} ${message}`);
  return [
    ...section("Type check", [
      types === "none"
        ? "The project has no tsconfig.json, or no compiler."
        : `It ${types}${faults.length > 0 ? `: ${faults.length} faults` : ""}.`,
      ...listed,
      ...(faults.length > MOST_FAULTS ? [`- and ${faults.length - MOST_FAULTS} more`] : []),
    ]),
    ...section("Tests", [
      tests === "none" ? "The project has no script called test." : `They ${tests}.`,
      ...(output === "" ? [] : output.split("\n").map((line) => `    ${line}`)),
    ]),
  ];
}
