/**
 * Dear tests that look widely at what others look at closely go by turns: a run takes some, chosen as cells are, for as much as
 * all of them may take together. A run of files named by their path takes those files.
 */
import { usualSeconds } from "../runner/order.js";
import { choice, inTurn } from "./cells.js";

/** What part of a file's tests takes of a processor, in seconds: proofs that set everything up from nothing, and many kill runs. */
const PROOFS = {
  "an installed package": 43,
  "a seller's project": 15,
  "a seller's container": 28,
  "many kill runs": 20,
} as const;

const FILES: readonly string[] = [
  "test/behaviours/project.test.ts",
  "test/bench/floors.test.ts",
  "test/conformance/twice.test.ts",
  "test/explorer/pages.test.ts",
  "test/explorer/screens.test.ts",
  "test/fuzz/seller.test.ts",
  "test/fuzz/strangers.test.ts",
  "test/fuzz/told-strangers.test.ts",
  "test/generator/disk.test.ts",
  "test/generator/mutants.test.ts",
  "test/generator/published.test.ts",
  "test/generator/standalone.test.ts",
  "test/house/promises.test.ts",
  "test/interop/bundlers.test.ts",
  "test/interop/edge.test.ts",
  "test/interop/outbox-python.test.ts",
  "test/interop/outbox.test.ts",
  "test/interop/runtimes.test.ts",
  "test/interop/seller.test.ts",
  "test/matrix/matrix.test.ts",
  "test/registry/serve-sole.test.ts",
  "test/registry/server-instances.test.ts",
  "test/registry/server-pages.test.ts",
  "test/scaffold/buyer.test.ts",
  "test/scaffold/update.test.ts",
  "test/types/hover.test.ts",
  "test/types/published.test.ts",
];

const BY_TURNS: readonly string[] = [...FILES, ...Object.keys(PROOFS)];
const secondsOf = (name: string): number => PROOFS[name as keyof typeof PROOFS] ?? usualSeconds(name);

/** What those of a run may take of a processor together, in seconds: a sixth of what all do. */
const MOST_SECONDS = 55;

/**
 * @param by what chooses; `all` leaves none out
 * @returns the files and proofs whose turn it is not
 */
export function notTheirTurn(by: string): string[] {
  if (by === "all") return [];
  let left = MOST_SECONDS;
  const taken = new Set<string>();
  for (const name of inTurn(by, BY_TURNS)) {
    const seconds = secondsOf(name);
    if (seconds > left) continue;
    left -= seconds;
    taken.add(name);
  }
  return BY_TURNS.filter((name) => !taken.has(name));
}

/** How every one of them is run. */
const EVERY_ONE = "ADBIND_CELLS=all ./run test test/package test/scaffold test/faults";

/** @returns whether this run proves it */
export function proves(name: keyof typeof PROOFS): boolean {
  const does = !notTheirTurn(choice()).includes(name);
  if (!does) console.log(`cells: not ${name}  (all: ${EVERY_ONE})`);
  return does;
}
