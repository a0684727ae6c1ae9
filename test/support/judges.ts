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

/** How the whole of a judge is run. */
export const judgeCommand = (name: keyof typeof judges): string => `./run judge ${name}`;
