import { cellsOf } from "./cells.js";

/** Judges with many cells, by the name that `./run judge` takes: the test file whose tests they are. */
export const judges = {
  published: "test/generator/published.test.ts",
  mutants: "test/generator/mutants.test.ts",
  requests: "test/cli/requests.test.ts",
  scaffold: "test/scaffold/new.test.ts",
  market: "test/cli/demo.test.ts",
  diff: "test/diff/neighbours.test.ts",
  events: "test/webhooks/kinds.test.ts",
  conformance: "test/conformance/broken.test.ts",
} as const;

/** Proofs that set everything up from nothing, and many kill runs: each the dearest of its file, and a commit's run takes one. */
const dearest = ["an installed package", "a seller's project", "a seller's container", "many kill runs"] as const;

/** How every one of them is run. */
const EVERY_ONE = "ADBIND_CELLS=all ./run test test/env test/package test/scaffold test/faults";

/** @returns whether this run proves it */
export const proves = (name: (typeof dearest)[number]): boolean => cellsOf(EVERY_ONE, dearest, 1).includes(name);

/** How the whole of a judge is run. */
export const judgeCommand = (name: keyof typeof judges): string => `./run judge ${name}`;
