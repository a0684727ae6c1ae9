/** Which test files start first: the slow ones, so that all workers have something to do to the end. */

/** Those that mostly wait, then the slowest first. A file that is not here is quick; one that is gone does no harm. */
const SLOW: readonly string[] = [
  "test/queue/pg-boss.test.ts",
  "test/scaffold/new.test.ts",
  "test/registry/crawl-queue.test.ts",
  "test/judges.test.ts",
  "test/env.test.ts",
  "test/docs.test.ts",
  "test/package.test.ts",
  "test/scaffold/update.test.ts",
  "test/generator/published.test.ts",
  "types",
  "test/generator/mutants.test.ts",
  "test/cli/demo.test.ts",
  "test/faults/registry.test.ts",
  "test/faults/sender.test.ts",
  "test/faults/seller.test.ts",
  "test/seller/postgres.test.ts",
  "test/store/postgres.test.ts",
  "test/registry/server-instances.test.ts",
  "test/registry/data-expand-postgres.test.ts",
  "test/interop/sender.test.ts",
  "test/faults/receiver.test.ts",
  "test/registry/server-contract.test.ts",
  "test/cli/check.test.ts",
];

/** @returns them with the slow ones in front, the others as they stood */
export const slowFirst = <T extends { readonly name: string }>(jobs: readonly T[]): T[] => {
  const rank = ({ name }: T): number => (SLOW.includes(name) ? SLOW.indexOf(name) : SLOW.length);
  return [...jobs].sort((a, b) => rank(a) - rank(b));
};
