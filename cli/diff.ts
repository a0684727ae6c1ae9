/** `adbind diff`: what changed between two releases, whom it breaks, and the proof. */
import { type Command, Option } from "commander";
import { diffReleases, reportOf } from "../generator/diff/diff.js";
import {
  type DiffFinding,
  type DiffReport,
  type DiffVerdict,
  type Pairing,
  pairings,
  verdicts,
} from "../generator/diff/finding.js";
import { diffRules } from "../generator/diff/rules.js";
import type { DiffSide } from "../generator/diff/side.js";
import { AdbindError } from "../runtime/errors.js";
import { unaccepted } from "./diff/accepted.js";
import { type Format, formats } from "./diff/formats.js";
import { loadSide, loadSides } from "./diff/load.js";
import { mentionsIn } from "./diff/mentions.js";
import { judgeTraffic } from "./diff/traffic.js";
import { usedBy } from "./diff/used-by.js";
import { verify } from "./diff/verify.js";
import { writeWitnesses } from "./diff/witness-files.js";
import { exitCodes, reportFailure } from "./failure.js";
import { plural, printJson } from "./output.js";
import { type ReleaseOptions, releaseHelp, withReleaseOptions } from "./release/resolve.js";

interface Options extends ReleaseOptions {
  format: Format;
  json?: boolean;
  level: DiffVerdict;
  rules?: boolean;
  pairing?: Pairing[];
  declared?: boolean;
  stability?: "stable";
  accept?: string;
  witness?: string;
  traffic?: string;
  suites?: string[];
  verify?: boolean;
  usedBy?: string;
  matrix?: string[];
}

/** A release that cannot be read: neither the command line's fault nor a finding. */
const UNREADABLE = 3;

const HELP = `
Verdicts: broken has a payload that one release accepts and the other refuses; safe is proven; undecided is the rest, and
counts as breaking. Findings at the level of --level or worse make the exit code 1.
Exit codes: 0 nothing at the level; 1 findings; 2 the command line is wrong; 3 a release cannot be read.`;

const atLevel = (findings: readonly DiffFinding[], level: DiffVerdict): boolean =>
  findings.some(({ verdict }) => verdicts.indexOf(verdict) <= verdicts.indexOf(level));

/** What the user wants told of it. */
function selected(found: readonly DiffFinding[], { pairing, declared, stability }: Options): DiffFinding[] {
  return found.filter(
    (one) =>
      (pairing === undefined || pairing.some((each) => one.breaks.includes(each) || one.undecided.includes(each))) &&
      !(declared && one.undeclaredOnly) &&
      (stability === undefined || one.stability === stability),
  );
}

function tellTraffic(file: string, [a, b]: readonly [DiffSide, DiffSide], json: boolean): boolean {
  const traffic = judgeTraffic(file, a, b);
  if (json) printJson(traffic);
  else {
    for (const { line, tool, side, because } of traffic.broken) console.log(`line ${line} ${tool} ${side}: ${because}`);
    const passed = traffic.unreadable === 0 ? "" : `; ${traffic.unreadable} are none of the older release`;
    console.log(`${traffic.broken.length} of ${plural(traffic.payloads, "payload")} break${passed}`);
  }
  return traffic.broken.length > 0;
}

/** Which releases' callers and sellers understand each other: findings that break a request or an answer. */
async function tellMatrix(names: readonly string[], options: Options): Promise<void> {
  const sides = [];
  for (const name of names) sides.push(await loadSide(name, options));
  const rows: { caller: string; seller: string; requests: number; answers: number }[] = [];
  for (const [index, a] of sides.entries())
    for (const b of sides.slice(index + 1)) {
      const found = selected(diffReleases(a, b).findings, options).filter(({ side }) => side !== "release");
      const count = (pairing: Pairing): number => found.filter(({ breaks }) => breaks.includes(pairing)).length;
      const [old, now] = [a.model.version, b.model.version];
      rows.push({
        caller: old,
        seller: now,
        requests: count("old-caller>new-seller"),
        answers: count("new-seller>old-caller"),
      });
      rows.push({
        caller: now,
        seller: old,
        requests: count("new-caller>old-seller"),
        answers: count("old-seller>new-caller"),
      });
    }
  if (options.json || options.format === "json") printJson(rows);
  else
    for (const { caller, seller, requests, answers } of rows)
      console.log(
        `caller ${caller.padEnd(14)} seller ${seller.padEnd(14)} ${requests} breaking in requests, ${answers} in answers`,
      );
}

function tellReport(report: DiffReport, sides: readonly DiffSide[], options: Options): void {
  console.log(formats[options.json ? "json" : options.format](report));
  if (options.witness !== undefined)
    console.error(
      `${plural(writeWitnesses(options.witness, report.findings, sides), "witness file")} in ${options.witness}; node --test replays them`,
    );
  if (atLevel(report.findings, options.level)) process.exitCode = exitCodes.failed;
}

/** The findings after a second validator and generated payloads were asked; what came of it is told beside them. */
function verified(report: DiffReport, sides: readonly [DiffSide, DiffSide]): DiffFinding[] {
  const { findings, witnesses, disputed, payloads, withdrawn, unsaid } = verify(report, sides);
  console.error(
    `verified: ${witnesses} witnesses before a second validator, ${disputed.length} findings disputed; ${plural(payloads, "payload")}, ${withdrawn.length} findings not safe after all, ${unsaid.length} messages with a break that no finding says`,
  );
  for (const line of unsaid) console.error(`no finding says: ${line}`);
  return findings;
}

async function diff([from, to]: readonly [string, string], options: Options): Promise<void> {
  const [a, b] = await loadSides([from, to], options);
  if (options.traffic !== undefined) {
    if (tellTraffic(options.traffic, [a, b], options.json === true || options.format === "json"))
      process.exitCode = exitCodes.failed;
    return;
  }
  const report = diffReleases(a, b);
  const held = options.verify ? verified(report, [a, b]) : report.findings;
  const touching = options.usedBy === undefined ? held : usedBy(held, mentionsIn(options.usedBy), [a, b]);
  const found = selected(touching, options);
  const today = new Date().toISOString().slice(0, 10);
  const left = options.accept === undefined ? found : unaccepted(found, options.accept, today);
  tellReport(reportOf(a.model, b.model, left, found.length - left.length), [a, b], options);
}

async function run(from: string | undefined, to: string | undefined, options: Options): Promise<void> {
  if (options.rules) {
    if (options.json) printJson(diffRules);
    else for (const { id, rule, fix } of diffRules) console.log(`${id.padEnd(26)} ${rule}; ${fix}`);
    return;
  }
  try {
    if (options.matrix !== undefined) await tellMatrix(options.matrix, options);
    else if (from === undefined || to === undefined)
      throw new AdbindError("usage", "two releases are compared", { remedy: "adbind diff OLDER NEWER" });
    else await diff([from, to], options);
  } catch (error) {
    if (!(error instanceof AdbindError) || error.code !== "release_unreadable") throw error;
    reportFailure(error, options.json === true);
    process.exitCode = UNREADABLE;
  }
}

export function register(command: Command): void {
  withReleaseOptions(
    command.argument("[from]", `the older release: ${releaseHelp}`).argument("[to]", "the newer release"),
  )
    .addOption(new Option("--format <format>", "how it is printed").choices(Object.keys(formats)).default("text"))
    .option("--json", "the same as --format json")
    .addOption(
      new Option("--level <verdict>", "what makes the exit code 1").choices([...verdicts]).default("undecided"),
    )
    .addOption(new Option("--pairing <pairings...>", "only what may break these").choices([...pairings]))
    .option("--declared", "leave out what only payloads with undeclared names show")
    .addOption(new Option("--stability <stability>", "only what is stable").choices(["stable"]))
    .option("--accept <file>", "findings that are accepted: [{id, reason, by, expires}]")
    .option(
      "--witness <folder>",
      "write each finding with its witnesses to a file, and a test beside it that replays them",
    )
    .option("--traffic <file>", "recorded payloads, one a line: how many of them break")
    .option("--suites <folders...>", "storyboards and vectors of both; by default those the releases come with")
    .option("--used-by <folder>", "only what touches the tools, fields and codes that a project's sources mention")
    .option("--verify", "ask a second validator of every witness, and 200 generated payloads of every message")
    .option("--matrix <releases...>", "which releases' callers and sellers understand each other")
    .option("--rules", "list the rules")
    .addHelpText("after", HELP)
    .action(run);
}
