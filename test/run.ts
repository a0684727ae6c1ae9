/**
 * `./run test`: lint, types, then every `*.test.ts`, each file in a process of its own (two at a time: the tests start
 * servers and databases). Ends with `N passed, N failed` from uvu's own totals; no test at all is a failure.
 */
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** Longest a test file may take before it is killed and counted as failed. */
const FILE_LIMIT_MS = 10 * 60_000;
const WORKERS = 2;

interface Outcome {
  name: string;
  passed: number;
  failed: number;
  skipped: number;
  output: string;
  seconds: number;
}

const run = (command: string, args: string[], limitMs = FILE_LIMIT_MS): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const keep = (chunk: Buffer) => {
      output += chunk;
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    const timer = setTimeout(() => {
      output += `\nkilled after ${limitMs / 1000} s\n`;
      child.kill("SIGKILL");
    }, limitMs);
    child.on("error", (error) => resolve({ code: 1, output: String(error) }));
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output });
    });
  });

const count = (output: string, label: string): number =>
  [...output.matchAll(new RegExp(`^\\s*${label}:\\s+(\\d+)`, "gm"))].reduce((sum, match) => sum + Number(match[1]), 0);

async function runFile(file: string): Promise<Outcome> {
  const started = performance.now();
  const { code, output } = await run("node", ["--import", "tsx", "--conditions=adbind-source", file]);
  const total = count(output, "Total");
  const passed = count(output, "Passed");
  const skipped = count(output, "Skipped");
  // A file that crashed, or that ran no test, counts as one failure: uvu's totals do not know of it.
  const failed = Math.max(total - passed - skipped, code !== 0 || total === 0 ? 1 : 0);
  return { name: file, passed, failed, skipped, output, seconds: (performance.now() - started) / 1000 };
}

async function runCheck(name: string, command: string, args: string[]): Promise<Outcome> {
  const started = performance.now();
  const { code, output } = await run(command, args);
  const failed = code === 0 ? 0 : 1;
  return { name, passed: 1 - failed, failed, skipped: 0, output, seconds: (performance.now() - started) / 1000 };
}

const print = ({ name, passed, failed, skipped, output, seconds }: Outcome): void => {
  const skips = skipped > 0 ? `, ${skipped} skipped` : "";
  console.log(`${failed > 0 ? "FAIL" : "ok  "} ${name}  ${passed} passed${skips}  ${seconds.toFixed(1)} s`);
  const notes = output.split("\n").filter((line) => line.startsWith("skipped: "));
  for (const note of notes) console.log(`     ${note}`);
  if (failed > 0) console.log(output.replace(/^/gm, "     "));
};

const asked = process.argv.slice(2);
const files = globSync("test/**/*.test.ts", { cwd: root, exclude: (name) => name === "node_modules" })
  .filter((file) => asked.length === 0 || asked.some((path_) => file.startsWith(path_.replace(/^\.\//, ""))))
  .sort();

const jobs: (() => Promise<Outcome>)[] = [
  ...(asked.length > 0
    ? []
    : [() => runCheck("lint", "biome", ["check", "."]), () => runCheck("types", "tsc", ["-p", "tsconfig.json"])]),
  ...files.map((file) => () => runFile(file)),
];

const outcomes: Outcome[] = [];
const worker = async (): Promise<void> => {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
    const outcome = await job();
    outcomes.push(outcome);
    print(outcome);
  }
};
await Promise.all(Array.from({ length: WORKERS }, worker));

const sum = (pick: (outcome: Outcome) => number): number => outcomes.reduce((total, one) => total + pick(one), 0);
const failed = sum((one) => one.failed) + (files.length === 0 ? 1 : 0);
const skipped = sum((one) => one.skipped);
if (files.length === 0) console.log("no test file matches");
console.log(`${sum((one) => one.passed)} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = failed > 0 ? 1 : 0;
