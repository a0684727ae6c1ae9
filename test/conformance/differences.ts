/**
 * `./run conformance differences [--specialism ID]`: our runner and the npm one on the old suite that comes with the
 * latter, each before a fresh seller of the same project; every step they disagree on, with what each says. The list of
 * known differences is test/conformance/differences.json: who is right by the published text. Fails on one that is not on it.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { wholeReleaseAt } from "../../cli/check/release-value.js";
import { close } from "../../cli/closing-line.js";
import { loadSuite, runConformance } from "../../runtime/conformance/index.js";
import { corpus } from "../support/corpus.js";
import { projectsFolder, RUN_TOKEN, scaffold, serveSeller, tls } from "./served-seller.js";

const root = path.resolve(import.meta.dirname, "../..");
const peer = path.join(root, "test/interop/peer/node_modules/@adcp/sdk");
const SUITE = "3.0.6";
const RELEASE = "3.0.26";
/** Longest the npm runner may take, in milliseconds. */
const PEER_LIMIT_MS = 8 * 60_000;

type Outcome = "passed" | "failed" | "skipped";

interface Known {
  readonly storyboard: string;
  readonly step: string;
  readonly ours: Outcome;
  readonly theirs: Outcome;
  readonly right: "ours" | "theirs" | "both";
  readonly why: string;
}

/** Steps by `storyboard/step`, as the npm runner grades them. */
async function theirs(url: string, folder: string): Promise<Map<string, { outcome: Outcome; why: string }>> {
  const args = [
    "--import",
    path.join(root, "test/interop/clock.mjs"),
    "bin/adcp.js",
    "storyboard",
    "run",
    url,
    "--auth",
    RUN_TOKEN,
    "--allow-http",
    "--webhook-receiver",
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
  const found = new Map<string, { outcome: Outcome; why: string }>();
  collect(JSON.parse(text.slice(text.indexOf("{"))), found, undefined);
  void folder;
  return found;
}

/** The report nests by track and storyboard; steps are what has a `step_id`. */
function collect(
  value: unknown,
  found: Map<string, { outcome: Outcome; why: string }>,
  storyboard: string | undefined,
): void {
  if (typeof value !== "object" || value === null) return;
  const one = value as Record<string, unknown>;
  const id = typeof one.storyboard_id === "string" ? one.storyboard_id : storyboard;
  if (typeof one.step_id === "string" && typeof one.passed === "boolean") {
    const skipped = one.skipped === true || one.skip !== undefined || one.skip_reason !== undefined;
    const outcome: Outcome = skipped ? "skipped" : one.passed ? "passed" : "failed";
    found.set(`${id}/${one.step_id}`, { outcome, why: String(one.error ?? one.skip_reason ?? "").slice(0, 160) });
  }
  for (const inner of Object.values(one)) collect(inner, found, id);
}

async function ours(url: string): Promise<Map<string, { outcome: Outcome; why: string }>> {
  const suite = await loadSuite(path.join(peer, "compliance/cache", SUITE));
  const whole = await wholeReleaseAt(path.join(corpus, "releases", RELEASE));
  const webhooks = { name: "localhost", tls };
  const report = await runConformance({ url, suite, ...whole, auth: RUN_TOKEN, ca: tls.cert, webhooks });
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
      return [`${step.storyboard}/${step.step}`, { outcome: outcomeOf[step.status], why: why.slice(0, 160) }] as const;
    }),
  );
}

async function fresh<T>(folder: string, job: (url: string) => Promise<T>): Promise<T> {
  const served = await serveSeller(folder);
  try {
    return await job(served.url);
  } finally {
    await served.stop();
  }
}

async function main(specialism: string): Promise<void> {
  const projects = projectsFolder(tmpdir());
  process.on("exit", () => rmSync(projects, { recursive: true, force: true }));
  const folder = await scaffold(projects, path.join(corpus, "releases", RELEASE), specialism);
  const mine = await fresh(folder, ours);
  const others = await fresh(folder, (url) => theirs(url, projects));
  const list = path.join(import.meta.dirname, "differences.json");
  const known: readonly Known[] = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];
  const totals = { passed: 0, failed: 0, known: 0 };
  for (const [key, { outcome, why }] of mine) {
    const other = others.get(key);
    if (other === undefined) continue;
    if (other.outcome === outcome) {
      totals.passed += 1;
      continue;
    }
    const entry = known.find(
      (one) => `${one.storyboard}/${one.step}` === key && one.ours === outcome && one.theirs === other.outcome,
    );
    totals[entry === undefined ? "failed" : "known"] += 1;
    console.log(
      `${entry === undefined ? "DIFFERS" : `known, right: ${entry.right}`} ${key}: ours ${outcome} (${why}), theirs ${other.outcome} (${other.why})`,
    );
  }
  const alone = [...others.keys()].filter((key) => !mine.has(key));
  if (alone.length > 0) console.log(`${alone.length} steps only the npm runner has: ${alone.slice(0, 20).join(", ")}`);
  close(totals, "steps");
}

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { specialism: { type: "string", default: "sales_guaranteed" } },
});
await main(values.specialism);
