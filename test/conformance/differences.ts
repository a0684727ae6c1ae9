/**
 * `./run conformance differences [--specialism ID]...`: our runner and the npm one on the old suite that comes with the
 * latter, each before a fresh seller of the same project; every step they disagree on, with what each says. The list of
 * known differences is test/conformance/differences.json: who is right by the published text. Fails on one that is not on it.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { willClose } from "../../cli/closing-line.js";
import { script } from "../../cli/script.js";
import { loadSuite, runConformance } from "../../runtime/conformance/index.js";
import { corpus } from "../support/corpus.js";
import { tls } from "../support/tls-terminator.js";
import { wholeRelease } from "../support/whole-release.js";
import { projectsFolder, RUN_TOKEN, scaffold, serveSeller } from "./served-seller.js";

const root = path.resolve(import.meta.dirname, "../..");
const peer = path.join(root, "test/interop/peer/node_modules/@adcp/sdk");
const clock = path.join(root, "test/interop/clock.mjs");
/** The suite has dates of mid 2026: both runners and the seller live before them, as that file has it. */
const OFFSET = Date.parse("2026-03-15T12:00:00Z") - Date.now();
const SUITE = "3.0.6";
const RELEASE = "3.0.26";
/** Longest the npm runner may take, in milliseconds. */
const PEER_LIMIT_MS = 8 * 60_000;

type Outcome = "passed" | "failed" | "skipped";

interface Graded {
  readonly outcome: Outcome;
  readonly why: string;
  /** The step's id, where it is known. */
  readonly id?: string;
}

interface Known {
  readonly storyboard: string;
  readonly step: string;
  readonly ours: Outcome;
  readonly theirs: Outcome;
  readonly right: "ours" | "theirs" | "both";
  readonly why: string;
}

/** Steps by `storyboard/step`, as the npm runner grades them. */
async function theirs(url: string): Promise<Map<string, Graded>> {
  const args = [
    "--import",
    clock,
    "bin/adcp.js",
    "storyboard",
    "run",
    url,
    "--auth",
    RUN_TOKEN,
    "--allow-http",
    "--webhook-receiver",
    "--timeout",
    "400",
    "--json",
  ];
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: path.join(root, "test/net/fixtures/loopback-test-only.cert.pem") };
  const child = spawn(process.execPath, args, {
    cwd: peer,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: PEER_LIMIT_MS,
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.resume();
  await new Promise<void>((resolve) => child.once("close", () => resolve()));
  const text = Buffer.concat(chunks).toString();
  return collect(JSON.parse(text.slice(text.indexOf("{"))) as TheirReport);
}

interface TheirReport {
  readonly tracks: readonly {
    readonly scenarios: readonly {
      /** `<storyboard>/<phase>` */
      readonly scenario: string;
      readonly steps?: readonly {
        /** The step's title. */
        readonly step: string;
        readonly passed: boolean;
        readonly skipped?: boolean;
        readonly skip_reason?: string;
        readonly error?: string;
        readonly details?: string;
        readonly warnings?: readonly string[];
      }[];
    }[];
  }[];
}

const oneLine = (text: string): string => text.trim().replace(/\s+/g, " ");

function collect({ tracks }: TheirReport): Map<string, Graded> {
  const found = new Map<string, Graded>();
  for (const { scenario, steps = [] } of tracks.flatMap(({ scenarios }) => scenarios))
    for (const step of steps) {
      const skipped = step.skipped === true || step.skip_reason !== undefined;
      const outcome: Outcome = skipped ? "skipped" : step.passed ? "passed" : "failed";
      const why = oneLine(step.skip_reason ?? step.error ?? step.warnings?.[0] ?? step.details ?? "").slice(0, 200);
      found.set(`${scenario}/${oneLine(step.step)}`, { outcome, why });
    }
  return found;
}

async function ours(url: string): Promise<Map<string, Graded>> {
  const suite = await loadSuite(path.join(peer, "compliance/cache", SUITE));
  const whole = await wholeRelease(RELEASE);
  const webhooks = { name: "localhost", tls };
  const now = (): number => Date.now() + OFFSET;
  const report = await runConformance({ url, suite, ...whole, auth: RUN_TOKEN, ca: tls.cert, webhooks, now });
  const outcomeOf = {
    passed: "passed",
    failed: "failed",
    skipped: "skipped",
    not_graded: "skipped",
    faulty: "failed",
  } as const;
  const steps = report.storyboards.flatMap((one) => one.steps);
  return new Map(
    steps.map((step) => {
      const broken = step.checks.find(({ outcome }) => outcome === "failed");
      const why = step.skip
        ? `${step.skip.reason}: ${step.skip.detail}`
        : (step.problem ?? broken?.note ?? broken?.description ?? "");
      return [
        `${step.storyboard}/${step.phase}/${step.title}`,
        { outcome: outcomeOf[step.status], why: oneLine(why).slice(0, 200), id: step.step },
      ] as const;
    }),
  );
}

async function fresh<T>(folder: string, job: (url: string) => Promise<T>): Promise<T> {
  const served = await serveSeller(folder, { NODE_OPTIONS: `--import ${clock}` });
  try {
    return await job(served.url);
  } finally {
    await served.stop();
  }
}

/** What one specialism's seller comes to. */
interface Compared {
  passed: number;
  failed: number;
  known: number;
  /** Differences on the list, by who is right. */
  readonly right: Record<Known["right"], number>;
}

const nothing = (): Compared => ({ passed: 0, failed: 0, known: 0, right: { ours: 0, theirs: 0, both: 0 } });

interface Comparing {
  readonly projects: string;
  readonly known: readonly Known[];
  /** Entries of the list that a difference was found for. */
  readonly used: Set<Known>;
}

const nameOf = (key: string, { id }: Graded): string => `${key.split("/").slice(0, -2).join("/")}/${id}`;

async function compare(specialism: string, { projects, known, used }: Comparing): Promise<Compared> {
  const folder = await scaffold(projects, path.join(corpus, "releases", RELEASE), specialism);
  const mine = await fresh(folder, ours);
  const others = await fresh(folder, theirs);
  const totals = nothing();
  for (const [key, graded] of mine) {
    const other = others.get(key);
    if (other === undefined) continue;
    const { outcome, why } = graded;
    const name = nameOf(key, graded);
    if (other.outcome === outcome) {
      totals.passed += 1;
      continue;
    }
    const entry = known.find(
      (one) => `${one.storyboard}/${one.step}` === name && one.ours === outcome && one.theirs === other.outcome,
    );
    if (entry !== undefined) {
      used.add(entry);
      totals.right[entry.right] += 1;
    }
    // Where the others are right, ours is at fault: a list excuses nothing of that.
    totals[entry === undefined || entry.right === "theirs" ? "failed" : "known"] += 1;
    const label = entry === undefined ? "DIFFERS" : `known, right: ${entry.right}`;
    console.log(`  ${label} ${name}: ours ${outcome} (${why}), theirs ${other.outcome} (${other.why})`);
  }
  const alone = [...others.keys()].filter((key) => !mine.has(key));
  if (alone.length > 0) console.log(`  ${alone.length} steps only the npm runner has: ${alone.slice(0, 8).join(", ")}`);
  return totals;
}

const close = willClose("steps");

async function main(wanted: readonly string[]): Promise<void> {
  const projects = projectsFolder(tmpdir());
  process.on("exit", () => rmSync(projects, { recursive: true, force: true }));
  const list = path.join(import.meta.dirname, "differences.json");
  const known: readonly Known[] = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];
  const used = new Set<Known>();
  const total = nothing();
  for (const specialism of wanted) {
    console.log(specialism);
    const { passed, failed, known: listed, right } = await compare(specialism, { projects, known, used });
    console.log(`  ${passed} alike, ${listed} on the list, ${failed} not`);
    total.passed += passed;
    total.failed += failed;
    total.known += listed;
    for (const side of ["ours", "theirs", "both"] as const) total.right[side] += right[side];
  }
  const unused = known.filter((one) => !used.has(one)).map(({ storyboard, step }) => `${storyboard}/${step}`);
  if (unused.length > 0) console.log(`on the list, and not seen in this run: ${unused.join(", ")}`);
  const { ours, theirs, both } = total.right;
  const undecided = total.failed - theirs;
  console.log(`differences: ours right in ${ours}, both in ${both}, ours wrong in ${theirs}, not decided ${undecided}`);
  close({ passed: total.passed, failed: total.failed, known: total.known });
}

/** Specialisms of sellers that the old suite has storyboards of. */
async function specialisms(): Promise<string[]> {
  const { release } = await wholeRelease(RELEASE);
  const suite = await loadSuite(path.join(peer, "compliance/cache", SUITE));
  const tested = suite.storyboards.map(({ file }) => /^specialisms\/([^/]+)\//.exec(file)?.[1]?.replaceAll("-", "_"));
  return Object.keys(release.specialisms).filter((id) => tested.includes(id.replaceAll("-", "_")));
}

const { specialism } = script("conformance differences", "steps that our runner and the npm one grade differently")
  .option("--specialism <id>", "only this one; may be repeated", (id: string, all: string[]) => [...all, id], [])
  .parse()
  .opts<{ specialism: string[] }>();
await main(specialism.length > 0 ? specialism : await specialisms());
