/** Runs test files, each in a process of its own, and reads uvu's totals off what it prints. */
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import type { ChildCommand } from "./compiler.js";
import { fromSource } from "./from-source.js";
import { PROCESSOR, RUNNER } from "./test-file.js";

const root = path.resolve(import.meta.dirname, "../..");
const preload = path.join(import.meta.dirname, "preload.ts");

const FILE_LIMIT_MS = 10 * 60_000;
/** Longest it may live on after its totals and say nothing: a test that failed leaves behind what it would have closed. */
const LINGER_MS = 120_000;
/** The last line of uvu's totals. */
const TOTALS = /^ *Skipped: +\d+$/m;
/** No longer is that line, which may come in two parts. */
const LINE_LENGTH = 40;

export interface CheckOutcome {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly output: string;
  readonly seconds: number;
  /** Of the processor; undefined for what does not tell. */
  readonly processor: number | undefined;
}

/** How a process ended, and what it printed. */
export interface Ended {
  readonly code: number;
  readonly output: string;
  /** The same, stdout apart from stderr: which of two pipes is read first does not say what was printed first. */
  readonly printed: readonly [stdout: string, stderr: string];
  readonly seconds: number;
}

export interface Spawned {
  /** Of the process, beside the caller's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** What it prints is printed here at once. */
  readonly echo?: boolean;
  /** Called with the process while it runs. */
  readonly attend?: (child: ChildProcess) => void;
  /** Longest it may take before it is killed and counted as failed, in milliseconds; ten minutes by default, null for any time. */
  readonly limitMs?: number | null;
  /** What its tests want may not be there: then nothing may be left of them, which is no failure. */
  readonly mayBeEmpty?: boolean;
  /** Longest it may live on after uvu's totals and say nothing, in milliseconds; two minutes by default. */
  readonly lingerMs?: number;
}

function run(command: string, args: readonly string[], how: Spawned = {}): Promise<Ended> {
  const { env, echo, attend, limitMs = FILE_LIMIT_MS, lingerMs = LINGER_MS } = how;
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe", ...(attend === undefined ? [] : ["ipc" as const])],
      env: { ...process.env, ...env },
    });
    attend?.(child);
    let output = "";
    const printed: [string, string] = ["", ""];
    let told = false;
    const add = (from: 0 | 1, text: Buffer | string): void => {
      output += text;
      printed[from] += text;
    };
    const keep = (from: 0 | 1, chunk: Buffer): void => {
      add(from, chunk);
      if (echo) process.stdout.write(chunk);
      // A file of more than one run goes on after the totals of the first.
      told ||= TOTALS.test(output.slice(-chunk.length - LINE_LENGTH));
      if (told) limit(lingerMs, "its totals and what it said then");
    };
    child.stdout!.on("data", (chunk: Buffer) => keep(0, chunk));
    child.stderr!.on("data", (chunk: Buffer) => keep(1, chunk));
    const kill = (ms: number, since: string): void => {
      add(1, `\nkilled: it had not ended ${ms / 1000} s after ${since}\n`);
      child.kill("SIGKILL");
      // What it has started may have them open too.
      for (const stream of [child.stdout!, child.stderr!]) stream.destroy();
    };
    const whole = limitMs === null ? undefined : setTimeout(kill, limitMs, limitMs, "its start");
    let silent: NodeJS.Timeout | undefined;
    const limit = (ms: number, since: string): void => {
      clearTimeout(silent);
      silent = setTimeout(kill, ms, ms, since);
    };
    const end = (code: number): void => {
      for (const timer of [whole, silent]) clearTimeout(timer);
      resolve({ code, output, printed, seconds: (performance.now() - started) / 1000 });
    };
    child.on("error", (error) => {
      add(1, String(error));
      end(1);
    });
    child.on("close", (code) => end(code ?? 1));
  });
}

const count = (output: string, label: string): number =>
  [...output.matchAll(new RegExp(`^\\s*${label}:\\s+(\\d+)`, "gm"))].reduce((sum, match) => sum + Number(match[1]), 0);

/** @param args what it runs and is given, below the root @returns how the process of a test file ended */
export const runTests = (args: readonly string[], { env, attend, ...how }: Spawned = {}): Promise<Ended> =>
  run(process.execPath, [...fromSource, "--import", preload, ...args], {
    env: { ...env, [RUNNER]: String(process.pid) },
    attend: attend ?? (() => undefined),
    ...how,
  });

/** What is known of a file's run. */
export interface RunOf extends Omit<Ended, "printed"> {
  readonly processor: number | undefined;
  readonly mayBeEmpty: boolean | undefined;
}

/** @returns what the totals say that a file printed */
export function outcomeOf(name: string, { code, output, seconds, processor, mayBeEmpty }: RunOf): CheckOutcome {
  const total = count(output, "Total");
  const passed = count(output, "Passed");
  const skipped = count(output, "Skipped");
  if (total === 0 && code === 0 && mayBeEmpty)
    return { name, passed: 0, failed: 0, skipped: 1, output, seconds, processor };
  // A file that crashed, or that ran no test, counts as one failure: uvu's totals do not know of it.
  const failed = Math.max(total - passed - skipped, code !== 0 || total === 0 ? 1 : 0);
  return { name, passed, failed, skipped, output, seconds, processor };
}

/** @param file below the root */
export async function runFile(file: string, how: Spawned = {}): Promise<CheckOutcome> {
  const ended = await runTests([file], how);
  const told = new RegExp(`^${PROCESSOR}(\\S+)$`, "m").exec(ended.output)?.[1];
  const processor = told === undefined ? undefined : Number(told);
  return outcomeOf(file, { ...ended, processor, mayBeEmpty: how.mayBeEmpty });
}

/** A check that is a command of its own: it passes when it exits with 0. */
export async function runCheck(name: string, { command, args, env = {} }: ChildCommand): Promise<CheckOutcome> {
  const { code, output, seconds } = await run(command, args, { env });
  const failed = code === 0 ? 0 : 1;
  return { name, passed: 1 - failed, failed, skipped: 0, output, seconds, processor: undefined };
}

const took = ({ seconds, processor }: CheckOutcome): string =>
  `${seconds.toFixed(1)} s${processor === undefined ? "" : `, ${processor.toFixed(1)} s of processor`}`;

/** Lines of a test file's output that a run repeats: what it passed over, and which cells of a judge it took. */
const NOTES = /^(?:skipped|cells): /;

/** Prints how it went; all it said, when something failed. */
export function print(outcome: CheckOutcome): void {
  const { name, passed, failed, skipped, output } = outcome;
  const skips = skipped > 0 ? `, ${skipped} skipped` : "";
  console.log(`${failed > 0 ? "FAIL" : "ok  "} ${name}  ${passed} passed${skips}  ${took(outcome)}`);
  if (failed > 0) console.log(output.replace(/^/gm, "     "));
  else for (const line of output.split("\n")) if (NOTES.test(line)) console.log(`     ${line}`);
}
