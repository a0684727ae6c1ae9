/** A comparison in the forms that programs and services read. */
import type { DiffFinding, DiffReport, DiffVerdict } from "../../generator/diff/finding.js";
import { diffRules } from "../../generator/diff/rules.js";
import { type Folded, fold, foldedPlace, pairingsOf, placeOf } from "./fold.js";
import { diffText, pairingWords } from "./text.js";

const sarifLevel: Readonly<Record<DiffVerdict, string>> = { broken: "error", undecided: "warning", safe: "note" };

const messageOf = (one: DiffFinding): string => {
  const { message, breaks, fix } = one;
  return `${placeOf(one)}: ${message}${breaks.length > 0 ? ` (breaks ${breaks.join(", ")})` : ""}. ${fix}`;
};

const fileOf = ({ pointerA, pointerB }: DiffFinding): string =>
  (pointerB || pointerA || "manifest.json").split("#")[0]!;

function sarif({ findings, to }: DiffReport): string {
  const rules = diffRules.map(({ id, rule, fix }) => ({ id, shortDescription: { text: rule }, help: { text: fix } }));
  const results = findings.map((one) => ({
    ruleId: one.rule,
    level: sarifLevel[one.verdict],
    message: { text: messageOf(one) },
    partialFingerprints: { adbind: one.id },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: fileOf(one) } },
        logicalLocations: [{ fullyQualifiedName: placeOf(one) }],
      },
    ],
    properties: { verdict: one.verdict, breaks: one.breaks, release: to.version },
  }));
  return JSON.stringify(
    {
      $schema: "https://json.schemastore.org/sarif-2.1.0.json",
      version: "2.1.0",
      runs: [{ tool: { driver: { name: "adbind diff", rules } }, results }],
    },
    null,
    2,
  );
}

const escaped = (text: string): string =>
  // XML has no place for control characters, escaped or not.
  text.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd]/g, "?").replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

function junit({ findings, from, to }: DiffReport): string {
  const failing = findings.filter(({ verdict }) => verdict !== "safe");
  const cases = findings.map((one) => {
    const name = escaped(`${one.rule} ${one.side} ${one.at} ${one.id}`);
    const head = `    <testcase classname="${escaped(one.tool ?? "release")}" name="${name}"`;
    if (one.verdict === "safe") return `${head}/>`;
    return `${head}>\n      <failure type="${one.verdict}" message="${escaped(one.message)}">${escaped(messageOf(one))}</failure>\n    </testcase>`;
  });
  const counts = `tests="${findings.length}" failures="${failing.length}"`;
  const suite = `  <testsuite name="${escaped(`${from.word} ${from.version} to ${to.version}`)}" ${counts}>`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    suite,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
  ].join("\n");
}

const data = (text: string): string => text.replace(/%/g, "%25").replace(/\r/g, "%0D").replace(/\n/g, "%0A");
const property = (text: string): string => data(text).replace(/:/g, "%3A").replace(/,/g, "%2C");

/** Workflow commands: one a change, as a page shows a few only. */
function githubActions({ findings }: DiffReport): string {
  const kind = { broken: "error", undecided: "warning", safe: "notice" } as const;
  return fold(findings)
    .map(
      ({ first, where }) =>
        `::${kind[first.verdict]} file=${property(fileOf(first))},title=${property(first.rule)}::${data(`${where}: ${first.message}. ${first.fix}`)}`,
    )
    .join("\n");
}

const cell = (text: string): string =>
  text
    .replace(/\|/g, "\\|")
    .replace(/[\r\n]+/g, " ")
    .replace(/</g, "&lt;");

function markdown(report: DiffReport): string {
  const { from, to, summary, findings } = report;
  const rows = fold(findings).map(
    (one) =>
      `| ${one.first.verdict} | \`${one.first.rule}\` | ${cell(foldedPlace(one))} | ${cell(one.first.message)} | ${cell(one.where)} | ${pairingsOf(one)} |`,
  );
  return [
    `# ${from.word} ${from.version} to ${to.version}`,
    "",
    `${summary.findings} findings: ${summary.broken} broken, ${summary.undecided} undecided, ${summary.safe} safe.`,
    "",
    "| who upgrades, and what of whom | findings that break it |",
    "|---|---|",
    ...Object.entries(summary.pairings).map(
      ([pairing, count]) => `| ${pairingWords[pairing as keyof typeof pairingWords]} | ${count} |`,
    ),
    "",
    "| verdict | rule | place | change | in | breaks |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

const row = (one: Folded): string =>
  `<tr class="${one.first.verdict}">${[
    one.first.verdict,
    one.first.rule,
    foldedPlace(one),
    one.first.message,
    one.where,
    pairingsOf(one),
    one.first.fix,
  ]
    .map((text) => `<td>${escaped(text)}</td>`)
    .join("")}</tr>`;

function html(report: DiffReport): string {
  const { from, to, summary, findings } = report;
  const title = escaped(`${from.word} ${from.version} to ${to.version}`);
  const style =
    "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:4px;text-align:left;vertical-align:top}.broken td:first-child{background:#fbb}.undecided td:first-child{background:#fe9}.safe td:first-child{background:#cfc}";
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${style}</style></head><body>`,
    `<h1>${title}</h1><p>${summary.findings} findings: ${summary.broken} broken, ${summary.undecided} undecided, ${summary.safe} safe.</p>`,
    "<table><tr><th>verdict</th><th>rule</th><th>place</th><th>change</th><th>in</th><th>breaks</th><th>do</th></tr>",
    ...fold(findings).map(row),
    "</table></body></html>",
  ].join("\n");
}

export const formats = {
  text: diffText,
  markdown,
  json: (report: DiffReport): string => JSON.stringify(report, null, 2),
  sarif,
  junit,
  "github-actions": githubActions,
  html,
} as const satisfies Record<string, (report: DiffReport) => string>;

export type Format = keyof typeof formats;
