/** Cold processes, measured from outside for time and from inside for memory. */
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** One process, from its start to its end. */
export interface Cost {
  ms: number;
  /** Largest resident set. */
  peakBytes: number;
  /** Processor time of all its threads; on a busy machine it tells more than the clock does. */
  cpuMs: number;
}

/** Arguments of a node process, and where it runs. */
export interface Command {
  args: readonly string[];
  cwd?: string;
  /** Exit codes that are no failure. */
  accept?: readonly number[];
  /** What it must print: a process that did something else was not worth measuring. */
  prints?: RegExp;
  /** Runs before each measured process, outside the measurement. */
  before?: () => void;
}

const preload = path.join(import.meta.dirname, "peak.cjs");

/** NODE_OPTIONS would give every process what the bench itself runs under: a loader for TypeScript. */
const environment = (peakFile: string): NodeJS.ProcessEnv => {
  const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ADBIND_CWD: ___, ...rest } = process.env;
  return { ...rest, ADBIND_PEAK_FILE: peakFile };
};

/**
 * Runs node once and waits for its end.
 * @throws Error when it fails or does not print what it should, with what it printed
 */
export function measureOnce({ args, cwd = tmpdir(), accept = [0], prints = /^/, before }: Command): Promise<Cost> {
  before?.();
  const peakFile = path.join(tmpdir(), `adbind-peak-${process.pid}.json`);
  return new Promise((resolve, reject) => {
    const started = process.hrtime.bigint();
    const child = spawn(process.execPath, ["--require", preload, ...args], {
      cwd,
      env: environment(peakFile),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let ms = 0;
    let output = "";
    const keep = (chunk: Buffer): void => {
      output += chunk;
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", reject);
    child.on("exit", () => {
      ms = Number(process.hrtime.bigint() - started) / 1e6;
    });
    child.on("close", (code) => {
      if (!accept.includes(code ?? -1) || !prints.test(output)) {
        reject(new Error(`node ${args.join(" ")} ended with ${code}:\n${output.slice(-4000)}`));
        return;
      }
      const { peakBytes, cpuMs } = JSON.parse(readFileSync(peakFile, "utf8")) as Omit<Cost, "ms">;
      rmSync(peakFile);
      resolve({ ms, peakBytes, cpuMs });
    });
  });
}

/** The middle one; of an even number the mean of the two. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

const medianCost = (costs: readonly Cost[]): Cost => ({
  ms: median(costs.map(({ ms }) => ms)),
  peakBytes: median(costs.map(({ peakBytes }) => peakBytes)),
  cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
});

/**
 * Medians of several commands, each run `runs` times in turn, so that a busy spell of the machine falls on all alike.
 * @param runs processes per command
 */
export async function measure<Name extends string>(
  commands: Record<Name, Command>,
  runs: number,
): Promise<Record<Name, Cost>> {
  const names = Object.keys(commands) as Name[];
  const costs = new Map<Name, Cost[]>(names.map((name) => [name, []]));
  for (let run = 0; run < runs; run++)
    for (const name of names) costs.get(name)!.push(await measureOnce(commands[name]));
  return Object.fromEntries(names.map((name) => [name, medianCost(costs.get(name)!)])) as Record<Name, Cost>;
}
