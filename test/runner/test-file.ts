/** What a test file's process knows of the runner that started it, and what it tells it. */
import { readFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** Names the process that runs the tests. */
export const RUNNER = "ADBIND_TEST_RUNNER";
/** Begins the line in which a test file tells its processor time. */
export const PROCESSOR = "processor seconds: ";
/** Begin the lines between which stands what one of several files of a process prints; its number follows, and how it ended. */
export const BEGINS = "test file begins: ";
export const ENDS = "test file ends: ";

/** How one of several files of a process ended. */
export interface Ending {
  readonly code: number;
  readonly seconds: number;
  /** Of them. */
  readonly processor: number;
}

/** Ticks in a second of the clock by which Linux tells processes their times. */
const TICKS = 100;

/** @returns whether this is a test file's own process, started by a runner: neither run alone, nor one of its children */
export const startedByRunner = (): boolean => isMainThread && process.env[RUNNER] === String(process.ppid);

/** @returns what this process and those that it waited for have taken of a processor, in seconds */
export function processorSeconds(): number {
  try {
    const text = readFileSync("/proc/self/stat", "utf8");
    // A name with spaces stands in parentheses; utime, stime, cutime and cstime are the 14th to the 17th field.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}
