/** A comparison for a person: who breaks whom on one screen, then each change once. */
import { type DiffFinding, type DiffReport, type Pairing, pairings } from "../../generator/diff/finding.js";
import { printable } from "../../runtime/printable.js";
import { plural } from "../output.js";
import { type Folded, fold, foldedPlace, pairingsOf } from "./fold.js";

/** What a pairing means to who has to decide. */
export const pairingWords: Readonly<Record<Pairing, string>> = {
  "old-caller>new-seller": "the seller upgrades first: requests of old callers",
  "new-seller>old-caller": "the seller upgrades first: answers to old callers",
  "new-caller>old-seller": "the caller upgrades first: requests to old sellers",
  "old-seller>new-caller": "the caller upgrades first: answers of old sellers",
};

const TOP = 8;

const toolsOf = (findings: readonly DiffFinding[]): number => new Set(findings.flatMap(({ tool }) => tool ?? [])).size;

function pairingLines(findings: readonly DiffFinding[]): string[] {
  return [pairings[0], pairings[3], pairings[1], pairings[2]].map((pairing) => {
    const broken = findings.filter(({ breaks }) => breaks.includes(pairing));
    const strict = broken.filter(({ undeclaredOnly }) => !undeclaredOnly);
    const only = broken.length - strict.length;
    const open = findings.filter(({ verdict, undecided }) => verdict === "undecided" && undecided.includes(pairing));
    const said = [
      `${fold(strict).length} breaking changes in ${plural(toolsOf(strict), "tool")}`,
      ...(only > 0 ? [`${fold(broken).length - fold(strict).length} that only undeclared names show`] : []),
      ...(open.length > 0 ? [`${fold(open).length} undecided`] : []),
    ];
    return `  ${pairingWords[pairing].padEnd(50)} ${said.join(", ")}`;
  });
}

const namesOf = (findings: readonly DiffFinding[], rule: string): string[] =>
  findings.filter((one) => one.rule === rule).map(({ at, about }) => about ?? at.replace(/^\w+\//, ""));

const tables = [
  ["tools added", "tool-added"],
  ["tools removed", "tool-removed"],
  ["tools deprecated", "tool-deprecated"],
  ["tools that write now, or no longer", "tool-mutating"],
  ["webhooks added", "webhook-added"],
  ["webhooks removed", "webhook-removed"],
  ["codes added", "code-added"],
  ["codes removed", "code-removed"],
  ["recovery changed", "code-recovery"],
  ["specialisms added", "specialism-added"],
  ["specialisms removed", "specialism-removed"],
  ["files with new sentences that demand", "sentence-added"],
] as const;

function tableLines(findings: readonly DiffFinding[]): string[] {
  return tables.flatMap(([words, rule]) => {
    const names = namesOf(findings, rule);
    if (names.length === 0) return [];
    const shown = names.slice(0, 6).join(", ") + (names.length > 6 ? ` and ${names.length - 6} more` : "");
    return [`  ${words}: ${names.length} (${shown})`];
  });
}

function changeLines(folded: Folded): string[] {
  const { rule, message, verdict, undeclaredOnly, id, reason, fix, side, usedAt } = folded.first;
  const place = foldedPlace(folded);
  const what = side === "release" ? `${folded.where}: ${message}` : `${place}: ${message}`;
  return [
    `${verdict.padEnd(9)} ${what} [${rule}] ${id}`,
    ...(side === "release" ? [] : [`          in ${folded.where}`]),
    ...(verdict === "safe"
      ? []
      : [
          `          ${verdict === "broken" ? "breaks" : "open for"} ${pairingsOf(folded)}${undeclaredOnly ? " (undeclared names only)" : ""}`,
        ]),
    ...(reason === undefined ? [] : [`          because ${reason}`]),
    ...(verdict === "safe" ? [] : [`          do: ${fix}`]),
    ...(usedAt === undefined ? [] : [`          used at ${usedAt.join(", ")}`]),
  ];
}

function top(folded: readonly Folded[]): string[] {
  const schema = folded.filter(
    ({ first }) => first.side !== "release" && first.verdict === "broken" && !first.undeclaredOnly,
  );
  if (schema.length === 0) return [];
  const lines = schema
    .slice(0, TOP)
    .map((one) => `  ${plural(one.all.length, "message").padEnd(13)} ${foldedPlace(one)}: ${one.first.message}`);
  return ["", "Farthest reaching:", ...lines];
}

const HINT = "Each change is listed once below; --json has every finding with its witness.";

/** @returns the lines, control characters aside */
export function diffText(report: DiffReport): string {
  const { from, to, findings, summary } = report;
  const folded = fold(findings);
  const title = `${from.word} ${from.version} -> ${to.version}`;
  const accepted = summary.accepted > 0 ? `, ${summary.accepted} accepted` : "";
  if (findings.length === 0) return `${title}: nothing changed in meaning${accepted}`;
  const head = [
    `${title}: ${plural(folded.length, "change")}, ${plural(findings.length, "finding")}: ${summary.broken} broken, ${summary.undecided} undecided, ${summary.safe} safe${accepted}`,
    "",
    ...pairingLines(findings),
    ...tableLines(findings),
    ...namesOf(findings, "policy-patch").map(() => "  a patch that breaks messages"),
    ...namesOf(findings, "policy-minor").map(() => "  a minor release that takes away what was stable"),
    ...top(folded),
    "",
    HINT,
    "",
  ];
  return [...head, ...folded.flatMap(changeLines)].map(printable).join("\n");
}
