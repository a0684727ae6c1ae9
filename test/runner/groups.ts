/** Small test files that share a process, since most of what one of them takes is loading what it tests. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { hasOwnStart } from "./order.js";
import { BEGINS, ENDS, type Ending } from "./test-file.js";
import { type CheckOutcome, type Ended, outcomeOf, runFile, runTests, type Spawned } from "./test-files.js";

const together = path.join(import.meta.dirname, "together.ts");

/** Most files of one process. */
const MOST_FILES = 8;

/** Uses what a process has but once, or looks at what its process holds: it has one of its own. */
const OWN_PROCESS = new RegExp(
  [
    String.raw`\bnock\b|\bglobalThis\b|worker_threads|diagnostics_channel|setGlobalDispatcher|heapUsed|\bgc\(`,
    String.raw`\bprocess\.(?:chdir|on|once|emit|exit|kill|stdout|stderr|argv|memoryUsage|cpuUsage|getActive\w+)\b`,
    String.raw`process\.env(?:\.\w+|\[[^\]]+\]) = |delete process\.env|(?:Date|performance)\.now = |console\.\w+ = `,
    // What is imported for what it does adds its tests once in a process.
    '^import "',
  ].join("|"),
  "m",
);

/**
 * @param files below the root
 * @returns all of them, each once: those of a folder that may share a process together, the others alone
 */
export function groupsOf(root: string, files: readonly string[]): string[][] {
  const groups: string[][] = [];
  const open = new Map<string, string[]>();
  for (const file of files) {
    if (hasOwnStart(file) || OWN_PROCESS.test(readFileSync(path.join(root, file), "utf8"))) {
      groups.push([file]);
      continue;
    }
    const folder = path.dirname(file);
    let group = open.get(folder);
    if (group === undefined || group.length >= MOST_FILES) {
      group = [];
      open.set(folder, group);
      groups.push(group);
    }
    group.push(file);
  }
  return groups;
}

interface Part {
  /** To where the next one begins. */
  readonly output: string;
  /** Undefined of the one in which the process ended. */
  readonly ending: Ending | undefined;
}

/** What was printed of one of the files, on stdout and then on stderr; undefined where it has not begun. */
function partOf(at: number, printed: readonly string[]): Part | undefined {
  const parts = printed.flatMap((one) => one.split(`\n${BEGINS}${at}\n`)[1]?.split(`\n${BEGINS}${at + 1}\n`)[0] ?? []);
  if (parts.length === 0) return undefined;
  const output = parts.join("\n");
  const told = new RegExp(`^${ENDS}${at} (.+)$`, "m").exec(output)?.[1];
  return { output, ending: told === undefined ? undefined : (JSON.parse(told) as Ending) };
}

/** @returns of each file that has begun what its part says; the last of them answers for how the process ended, where none else does */
export function outcomesOf(
  files: readonly string[],
  { code, printed, seconds }: Ended,
  { mayBeEmpty }: Spawned,
): CheckOutcome[] {
  const parts = files.flatMap((_, at) => partOf(at, printed) ?? []);
  const explained = parts.some(({ ending }) => ending === undefined || ending.code !== 0);
  return parts.map(({ output, ending = { code: 1, seconds, processor: undefined } }, at) => {
    const own = at === parts.length - 1 && !explained ? code : ending.code;
    return outcomeOf(files[at]!, { ...ending, code: own, output, mayBeEmpty });
  });
}

/** Runs files in one process. What has not begun when that ends, since one before it crashed, is run in another. */
export async function runGroup(files: readonly string[], how: Spawned = {}): Promise<CheckOutcome[]> {
  if (files.length === 1) return [await runFile(files[0]!, how)];
  const outcomes = outcomesOf(files, await runTests([together, ...files], how), how);
  const left = files.slice(outcomes.length);
  // Where not even the first one began, each says why.
  if (outcomes.length === 0) return Promise.all(files.map((file) => runFile(file, how)));
  return left.length === 0 ? outcomes : [...outcomes, ...(await runGroup(left, how))];
}
