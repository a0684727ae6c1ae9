/** Which compiler a run checks types with. */
import { existsSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");

/**
 * The newest TypeScript's takes a third of the time; where it is not installed, ours. What is published is compiled by
 * ours in any case, by the test of the package.
 * @returns path of the compiler
 */
export function compiler(): string {
  const newest = path.join(root, "test/interop/typescript-7/node_modules/.bin/tsc");
  return existsSync(newest) ? newest : path.join(root, "node_modules/.bin/tsc");
}
