/** Which test files start first: the slow ones, so that all workers have something to do to the end. */

/** Those that mostly wait, each beside one that mostly works. A file that is not here is quick; one that is gone does no harm. */
const SLOW: readonly string[] = [
  "test/registry/crawl-queue.test.ts",
  "test/docs.test.ts",
  "test/runtime/upkeep.test.ts",
  "test/package.test.ts",
  "test/queue/postgres.test.ts",
  "test/generator/mutants.test.ts",
  "test/sender/postgres.test.ts",
  "test/generator/published.test.ts",
  "test/cli/demo.test.ts",
  "test/scaffold/new.test.ts",
  "test/seller/postgres.test.ts",
  "test/house/promises.test.ts",
  "test/registry/server-instances.test.ts",
  "test/generator/standalone.test.ts",
  "test/explorer/screens.test.ts",
  "test/cli/failure.test.ts",
  "types",
  "test/faults/sender.test.ts",
  "test/scaffold/update.test.ts",
  "test/registry/data-expand-postgres.test.ts",
  "test/interop/outbox-python.test.ts",
  "test/interop/outbox.test.ts",
  "test/cli/check.test.ts",
];

/** @returns them with the slow ones in front, the others as they stood */
export const slowFirst = <T extends { readonly name: string }>(jobs: readonly T[]): T[] => {
  const rank = ({ name }: T): number => (SLOW.includes(name) ? SLOW.indexOf(name) : SLOW.length);
  return [...jobs].sort((a, b) => rank(a) - rank(b));
};
