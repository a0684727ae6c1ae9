/**
 * `./run test [path...]`: lint, types, then every `*.test.ts`, on one PostgreSQL that starts when the first file
 * asks for it. Each has a process of its own, but small ones, of which some share one. Ends with `N passed, N failed` from
 * uvu's own totals; no test at all is a failure.
 */
import { existsSync, globSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { willClose } from "../cli/closing-line.js";
import { keptCode } from "./runner/caches.js";
import { compilation } from "./runner/compiler.js";
import { groupsOf, runGroup } from "./runner/groups.js";
import { keepTook, startingOrder, tookBefore } from "./runner/order.js";
import { PostgresOfRun } from "./runner/postgres-of-run.js";
import { scratch } from "./runner/scratch.js";
import { type CheckOutcome, print, runCheck } from "./runner/test-files.js";
import { CHOICE, choice } from "./support/cells.js";
import { corpus } from "./support/corpus.js";
import { startShared } from "./support/postgres.js";
import { notTheirTurn } from "./support/turns.js";

/** Files start servers and databases: more at once would wait for memory and disk. */
const MOST_AT_ONCE = 4;
/** Of them, those that take what mostly waits first: in one row those files would be the last that end. */
const WAITERS = 2;
/** One more than processors, since there are always files that wait for another process or a disk; and those that take what waits. */
const WORKERS = Math.min(availableParallelism(), MOST_AT_ONCE) + 1 + WAITERS;

interface Job {
  readonly name: string;
  readonly files?: readonly string[];
  readonly run: () => Promise<readonly CheckOutcome[]>;
}

const root = path.dirname(import.meta.dirname);
const removeScratch = scratch();
const postgres = new PostgresOfRun(startShared);
/** What is compiled once is not compiled by each file's process again; coverage wants it compiled anew. */
const compiled = process.env.NODE_V8_COVERAGE ? {} : { NODE_COMPILE_CACHE: keptCode(root) };
/** Processes of a run live for seconds: with room for what is young they collect less, for a fourteenth of the time in all. In MiB. */
const YOUNG_MIB = 32;
const options = `${process.env.NODE_OPTIONS ?? ""} --max-semi-space-size=${YOUNG_MIB}`.trim();
const env = { ...compiled, NODE_OPTIONS: options, [CHOICE]: choice() };

/** Without the published releases nothing is left of files that are about them; each says so. */
const mayBeEmpty = !existsSync(path.join(corpus, "releases"));

const asked = process.argv.slice(2).map((name) => name.replace(/^\.\//, ""));
const left = asked.length > 0 ? [] : notTheirTurn(env[CHOICE]);
const files = globSync("test/**/*.test.ts", {
  cwd: root,
  exclude: (name) => name === "node_modules",
})
  .filter((file) => asked.length === 0 || asked.some((start) => file.startsWith(start)))
  .filter((file) => !left.includes(file))
  .sort();

const checks: readonly Job[] = [
  { name: "lint", run: async () => [await runCheck("lint", { command: "biome", args: ["check", "."] })] },
  { name: "types", run: async () => [await runCheck("types", compilation("tsconfig.json"))] },
];
const jobs: readonly Job[] = [
  ...(asked.length > 0 ? [] : checks),
  ...groupsOf(root, files).map((group) => ({
    name: group[0]!,
    files: group,
    run: () => runGroup(group, { env, mayBeEmpty, attend: (child) => postgres.serve(child) }),
  })),
];
const { waiting, working } = startingOrder(jobs, tookBefore(root));

const outcomes: CheckOutcome[] = [];
/** Takes what is first in its lists until nothing is left in any. */
async function work(...lists: readonly Job[][]): Promise<void> {
  const next = (): Job | undefined => lists.find(({ length }) => length > 0)?.shift();
  for (let job = next(); job !== undefined; job = next()) {
    const ended = await job.run();
    outcomes.push(...ended);
    for (const outcome of ended) print(outcome);
  }
}

const close = willClose();
const started = performance.now();
console.log(`cells of long judges are chosen by ${env[CHOICE]}; ${CHOICE}=<that> takes the same again, =all every one`);
if (left.length > 0) console.log(`not this run's turn (./run test PATH runs one): ${left.join(", ")}`);
try {
  await Promise.all(
    Array.from({ length: WORKERS }, (_, at) => (at < WAITERS ? work(waiting, working) : work(working, waiting))),
  );
} finally {
  await postgres.stop();
  removeScratch();
  keepTook(
    root,
    Object.fromEntries(outcomes.flatMap(({ name, processor }) => (processor === undefined ? [] : [[name, processor]]))),
  );
}

const sum = (pick: (outcome: CheckOutcome) => number): number => outcomes.reduce((total, one) => total + pick(one), 0);
const seconds = (performance.now() - started) / 1000;
const processor = outcomes.reduce((total, one) => total + (one.processor ?? 0), 0);
console.log(`${seconds.toFixed(0)} s with ${WORKERS} at a time, ${processor.toFixed(0)} s of processor in test files`);
if (files.length === 0) console.log(`no test file matches ${asked.join(", ") || "test/**/*.test.ts"}`);
close({
  passed: sum((one) => one.passed),
  failed: sum((one) => one.failed) + (files.length === 0 ? 1 : 0),
  skipped: sum((one) => one.skipped),
});
