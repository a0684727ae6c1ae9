/** Dear test files that look widely at what others look at closely: a run takes some, chosen as cells are, a run of files named by their path all. */

import { usualSeconds } from "../runner/order.js";
import { choose } from "./cells.js";

const BY_TURNS: readonly string[] = [
  "test/behaviours/project.test.ts",
  "test/bench/floors.test.ts",
  "test/conformance/twice.test.ts",
  "test/explorer/screens.test.ts",
  "test/fuzz/seller.test.ts",
  "test/fuzz/strangers.test.ts",
  "test/fuzz/told-strangers.test.ts",
  "test/generator/disk.test.ts",
  "test/generator/mutants.test.ts",
  "test/generator/published.test.ts",
  "test/generator/standalone.test.ts",
  "test/house/promises.test.ts",
  "test/interop/edge.test.ts",
  "test/interop/outbox-python.test.ts",
  "test/interop/outbox.test.ts",
  "test/matrix/matrix.test.ts",
  "test/scaffold/buyer.test.ts",
  "test/scaffold/update.test.ts",
  "test/types/hover.test.ts",
  "test/types/published.test.ts",
];

/** What those of a run may take of a processor together, in seconds: a quarter of what all do. */
const MOST_SECONDS = 50;

/**
 * @param by what chooses; `all` leaves none out
 * @returns the files whose turn it is not
 */
export function notTheirTurn(by: string, files: readonly string[] = BY_TURNS): string[] {
  if (by === "all") return [];
  // The first of them, then two, and so on: as many as there is time for.
  const taken = files.map((_, at) => choose(by, files, at + 1));
  const seconds = (some: readonly string[]): number => some.reduce((sum, file) => sum + usualSeconds(file), 0);
  const most = taken.findLast((some) => seconds(some) <= MOST_SECONDS) ?? [];
  return files.filter((file) => !most.includes(file));
}
