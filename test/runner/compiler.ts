/** Which compiler a run checks types with, and how. */
import { existsSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");
const newest = path.join(root, "test/interop/typescript-7/node_modules/.bin/tsc");

/** Where the newest compiler begins to collect garbage: it takes half of this for all of ours, and ends soon. */
const MEMORY = "3GiB";

/** A program, and what it is given. */
export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside the caller's own. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * The newest TypeScript's takes a third of the time; where it is not installed, ours. What is published is compiled by
 * ours in any case, by the test of the package.
 * @returns path of the compiler
 */
export const compiler = (): string => (existsSync(newest) ? newest : path.join(root, "node_modules/.bin/tsc"));

/**
 * Several checkers of the newest one would each work out the types they share: one takes half of a processor's time for the same
 * words.
 * @param config a configuration's file
 */
export function compilation(config: string): ChildCommand {
  const [command, args] = [compiler(), ["-p", config]];
  if (command !== newest) return { command, args };
  return { command, args: [...args, "--singleThreaded"], env: { GOGC: "off", GOMEMLIMIT: MEMORY } };
}
