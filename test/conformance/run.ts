/**
 * `./run conformance [--suite DIR] [--release RELEASE] [--specialism ID]... [--with AREA]... [--storyboard ID]... [--out DIR]`:
 * for every specialism of a seller one is scaffolded and served, and the published storyboards of its release judge it in one
 * default run. One line a run; ends with a count of the steps, and with exit code 1 when one failed, or fewer passed than
 * once did (passed.json). Of storyboards that are named a step that is skipped has failed too.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { willClose } from "../../cli/closing-line.js";
import { userPath } from "../../cli/output.js";
import { releaseHelp, resolveRelease } from "../../cli/release/resolve.js";
import { script } from "../../cli/script.js";
import {
  type ConformanceReport,
  type Counts,
  countsLine,
  htmlReport,
  redactedReport,
  runConformance,
  type StepResult,
} from "../../runtime/conformance/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { corpus } from "../support/corpus.js";
import { tls } from "../support/tls-terminator.js";
import { heldToPassed } from "./passed.js";
import { type Place, places, snake, specialismsOf, type Wanted } from "./places.js";
import { projectsFolder, RUN_TOKEN, type ServedSeller, scaffold, serveSeller } from "./served-seller.js";

/** The agent that stands for a role where a storyboard needs another than the one under test. */
const roles: Readonly<Record<string, readonly string[]>> = {
  governance: ["governance_spend_authority", "governance-spend-authority"],
  signals: ["signal_marketplace"],
  brand: ["brand_rights"],
  sales: ["sales_guaranteed"],
  "creative-builder": ["creative_generative"],
};

interface Options extends Wanted {
  readonly out: string | undefined;
  readonly roles: boolean;
}

/** The agents of the other roles, started when the first run of a release needs them. */
async function others(place: Place, projects: string): Promise<Map<string, ServedSeller>> {
  const started = new Map<string, ServedSeller>();
  for (const [key, names] of Object.entries(roles)) {
    const id = names.find((name) => Object.hasOwn(place.release.specialisms, name));
    if (id === undefined) continue;
    try {
      started.set(key, await serveSeller(await scaffold(projects, place.source, id)));
    } catch {
      // Its own run says that it does not start; steps that need it are skipped, by name.
    }
  }
  return started;
}

const none: Counts = { passed: 0, failed: 0, skipped: 0, notGraded: 0, faulty: 0, unchecked: 0, advisories: 0 };

const sum = (left: Counts, right: Counts): Counts =>
  Object.fromEntries(
    Object.entries(left).map(([key, count]) => [key, count + right[key as keyof Counts]]),
  ) as unknown as Counts;

interface Graded {
  readonly counts: Counts;
  readonly report?: ConformanceReport;
  readonly problem?: string;
}

/** The agent under test stands for its own roles. */
function othersThan(
  { release }: Place,
  id: string,
  agents: ReadonlyMap<string, ServedSeller>,
): [string, ServedSeller][] {
  const protocolOf = (name: string | undefined) => release.specialisms[name ?? ""]?.protocol;
  return [...agents].filter(
    ([key]) => !(roles[key] ?? []).some((name) => protocolOf(name) === protocolOf(id) && protocolOf(id) !== undefined),
  );
}

async function grade(
  place: Place,
  id: string,
  parts: { projects: string; agents: ReadonlyMap<string, ServedSeller> },
): Promise<Graded> {
  const { release, documents, published, suite, storyboards } = place;
  let served: ServedSeller;
  try {
    served = await serveSeller(await scaffold(parts.projects, place.source, id, place.with));
  } catch (error) {
    const problem =
      error instanceof Error
        ? (error.message.split("\n").find((line) => /error/i.test(line)) ?? error.message)
        : String(error);
    return { counts: { ...none, failed: 1 }, problem: `the seller does not start: ${problem.trim()}` };
  }
  try {
    const report = await runConformance({
      url: served.url,
      release,
      documents,
      published,
      suite,
      auth: RUN_TOKEN,
      ca: tls.cert,
      agents: Object.fromEntries(othersThan(place, id, parts.agents).map(([key, { url }]) => [key, url])),
      webhooks: { name: "localhost", tls },
      ...(storyboards.length > 0 && { storyboards }),
    });
    // An entry that has become wrong would hide the next failure.
    const counts = { ...report.counts, failed: report.counts.failed + wronglyListed(report).length };
    return { counts: storyboards.length > 0 ? { ...counts, failed: counts.failed + counts.skipped } : counts, report };
  } catch (error) {
    return { counts: { ...none, failed: 1 }, problem: error instanceof Error ? error.message : String(error) };
  } finally {
    await served.stop();
  }
}

/** Steps that are on the list of faulty ones for this suite, and pass. */
const wronglyListed = ({ storyboards }: ConformanceReport): StepResult[] =>
  storyboards.flatMap(({ steps }) => steps).filter(({ status, fault }) => status === "passed" && fault !== undefined);

const cell = (value: number): string => String(value).padStart(8);

function print(version: string, id: string, { counts, report, problem }: Graded, strict: boolean): void {
  const { passed, failed, skipped, notGraded, faulty } = counts;
  const seconds = report === undefined ? "" : `${(report.tookMs / 1000).toFixed(0)} s`.padStart(7);
  console.log(
    `${version.padEnd(14)}${id.padEnd(30)}${[passed, failed, skipped, notGraded, faulty].map(cell).join("")}${seconds}`,
  );
  if (problem !== undefined) console.log(`  FAILED ${problem.slice(0, 300)}`);
  for (const { steps } of report?.storyboards ?? [])
    for (const step of steps) {
      if (step.status !== "failed") continue;
      const broken = step.checks.find(({ outcome, advisory }) => outcome === "failed" && advisory !== true);
      const why =
        step.problem ?? `${broken?.check} ${broken?.pointer ?? ""}: ${broken?.note ?? broken?.description ?? ""}`;
      console.log(`  FAILED ${step.storyboard}/${step.step}: ${why.slice(0, 220)}`);
    }
  if (report === undefined) return;
  for (const { storyboard, step } of wronglyListed(report))
    console.log(`  FAILED ${storyboard}/${step}: it is on the list of faulty ones and passes: take it off the list`);
  printSkips(report, strict);
}

/** Reasons that are the seller's own lack; every step that has one is named. */
const lacks: ReadonlySet<string> = new Set(["missing_tool", "missing_test_controller", "requirement_unmet"]);

function printSkips({ storyboards }: ConformanceReport, strict: boolean): void {
  const skipped = storyboards
    .flatMap(({ steps }) => steps)
    .flatMap((step) => (step.skip ? [{ step, ...step.skip }] : []));
  const reasons = new Map<string, number>();
  for (const { reason } of skipped) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const list = [...reasons].sort(([a], [b]) => (a < b ? -1 : 1)).map(([reason, count]) => `${count} ${reason}`);
  if (list.length > 0) console.log(`  skipped: ${list.join(", ")}`);
  for (const { step, reason, detail } of skipped)
    if (strict || lacks.has(reason))
      console.log(`  ${reason} ${step.storyboard}/${step.step}: ${detail.slice(0, 160)}`);
}

function keep(out: string | undefined, version: string, id: string, { report }: Graded): void {
  if (out === undefined || report === undefined) return;
  mkdirSync(out, { recursive: true });
  const shown = redactedReport(report);
  writeFileSync(path.join(out, `${version}-${id}.html`), htmlReport(shown));
  writeFileSync(path.join(out, `${version}-${id}.json`), JSON.stringify(shown, null, 1));
}

async function main(options: Options): Promise<void> {
  const close = willClose("steps");
  const all = await places(options);
  const known = new Set(all.flatMap(specialismsOf).map(snake));
  const unknown = options.specialisms.map(snake).filter((id) => !known.has(id));
  if (unknown.length > 0) {
    console.error(`no specialism ${unknown.join(", ")}; there are ${[...known].sort().join(", ")}`);
    process.exitCode = 2;
    return;
  }
  const projects = projectsFolder(tmpdir());
  process.on("exit", () => rmSync(projects, { recursive: true, force: true }));
  let total = none;
  console.log(
    `${"release".padEnd(14)}${"specialism".padEnd(30)}${["passed", "failed", "skipped", "ungraded", "faulty"].map((one) => one.padStart(8)).join("")}`,
  );
  for (const place of all) {
    const wanted = place.specialisms.map(snake);
    const ids = specialismsOf(place).filter((id) => wanted.length === 0 || wanted.includes(snake(id)));
    const agents =
      options.roles && place.storyboards.length === 0 ? await others(place, projects) : new Map<string, ServedSeller>();
    for (const id of ids) {
      const run = await grade(place, id, { projects, agents });
      const version = place.release.version;
      // Without the other roles' agents less can pass.
      const name = [id, ...place.with].join("+");
      const fewer = run.report && options.roles ? heldToPassed(version, name, run.counts.passed) : undefined;
      const graded =
        fewer === undefined
          ? run
          : { ...run, counts: { ...run.counts, failed: run.counts.failed + 1 }, problem: fewer };
      print(version, name, graded, place.storyboards.length > 0);
      keep(options.out, version, name, graded);
      total = sum(total, graded.counts);
    }
    for (const { stop } of agents.values()) await stop();
  }
  close({ passed: total.passed, failed: total.failed }, countsLine(total));
}

const collected = (id: string, all: string[]): string[] => [...all, id];

/** @throws AdbindError `usage`, `release_unreadable` */
async function optionsOf(): Promise<Options> {
  const command = script("conformance", "grades scaffolded sellers by the published storyboards of their release")
    .option("--suite <dir>", "a suite of storyboards; without --release it is graded on the release of its version")
    .option("--release <release>", releaseHelp)
    .option("--specialism <id>", "only this one; may be repeated", collected, [])
    .option("--with <area>", "an area that sellers are made with; may be repeated", collected, [])
    .option("--storyboard <id>", "only this one, of which no step may be skipped; may be repeated", collected, [])
    .option("--out <dir>", "where a report of each run is written, as HTML and JSON")
    .option("--no-roles", "starts no agents of other roles; steps that need one are skipped")
    .parse();
  const given = command.opts<{
    suite?: string;
    release?: string;
    specialism: string[];
    with: string[];
    storyboard: string[];
    out?: string;
    roles: boolean;
  }>();
  const suite = given.suite === undefined ? undefined : userPath(given.suite);
  if (suite !== undefined && !existsSync(suite))
    throw new AdbindError("usage", "there is no suite", { where: suite, remedy: "name a folder that has index.json" });
  return {
    suite,
    release:
      given.release === undefined
        ? undefined
        : await resolveRelease(given.release, { source: path.join(corpus, "releases") }),
    specialisms: given.specialism,
    with: given.with,
    storyboards: given.storyboard,
    out: given.out === undefined ? undefined : userPath(given.out),
    roles: given.roles,
  };
}

await main(await optionsOf());
