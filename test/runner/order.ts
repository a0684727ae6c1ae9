/** Which test files start when, so that the processors have something to do from the start of a run to its end. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Those that mostly wait, for a timer, a lease or a server: the longest first. They go few at a time beside the others, and
 * take little from them. A file that is gone does no harm.
 */
const WAITING: readonly string[] = [
  "test/registry/crawl-queue.test.ts",
  "test/sender/postgres.test.ts",
  "test/sender/sqlite.test.ts",
  "test/queue/postgres.test.ts",
  "test/runtime/upkeep.test.ts",
  "test/split/move-postgres.test.ts",
  "test/queue/nats-stream.test.ts",
  "test/queue/nats.test.ts",
  "test/seller/postgres.test.ts",
  "test/split/store-postgres.test.ts",
  "test/interop/sender.test.ts",
  "test/faults/sender.test.ts",
  "test/conformance/buyer.test.ts",
  "test/store/postgres.test.ts",
  "test/deploy/configs.test.ts",
  "test/sender/nats.test.ts",
  "test/seller/sqlite.test.ts",
  "test/receiver/deadlines.test.ts",
  "test/registry/data-search-postgres.test.ts",
  "test/db/fail-over.test.ts",
  "test/registry/data-search-copy.test.ts",
];

/** Those that mostly work, by what they take of a processor in seconds; one that is not here takes less than all of these. */
const WORKING: Readonly<Record<string, number>> = {
  // Where it is their cell that was chosen.
  "test/env.test.ts": 36,
  "test/scaffold/container.test.ts": 28,
  "test/faults/receiver.test.ts": 20,
  "test/docs.test.ts": 27,
  "test/generator/mutants.test.ts": 23,
  "test/package.test.ts": 21,
  types: 18,
  "test/house/promises.test.ts": 17,
  "test/cli/demo.test.ts": 14,
  "test/generator/published.test.ts": 14,
  "test/deploy/commands.test.ts": 13,
  "test/behaviours/project.test.ts": 13,
  "test/registry/server-instances.test.ts": 13,
  "test/cli/failure.test.ts": 12,
  "test/scaffold/update.test.ts": 12,
  "test/generator/standalone.test.ts": 12,
  "test/types/published.test.ts": 9,
  "test/generator/disk.test.ts": 9,
  "test/scaffold/new.test.ts": 8,
  "test/matrix/matrix.test.ts": 8,
  "test/cli/conform.test.ts": 8,
  "test/interop/outbox.test.ts": 8,
  "test/registry/server-pages.test.ts": 8,
  "test/registry/server-contract.test.ts": 8,
  "test/registry/data-expand-postgres.test.ts": 8,
  "test/registry/data-expand-sqlite.test.ts": 7,
  "test/faults/outbox.test.ts": 7,
  lint: 7,
  "test/cli/check.test.ts": 7,
  "test/cli/generate.test.ts": 7,
  "test/generator/emitted.test.ts": 7,
  "test/interop/outbox-python.test.ts": 7,
  "test/behaviours/reporting.test.ts": 7,
  "test/types/rules.test.ts": 7,
  "test/cli/script.test.ts": 6,
  "test/cli/outbox-serve.test.ts": 6,
  "test/registry/data-search-parts.test.ts": 6,
  "test/explorer/pages.test.ts": 5,
  "test/explorer/screens.test.ts": 5,
};

interface Named {
  readonly name: string;
}

/** Seconds of a processor by file. */
export type Took = Readonly<Record<string, number>>;

export interface Starting<T> {
  /** Few at a time. */
  readonly waiting: T[];
  readonly working: T[];
}

/**
 * @param took of the last run; the lists above for what it does not know
 * @returns all of them, each once; of either kind what takes longest is first
 */
export function startingOrder<T extends Named>(jobs: readonly T[], took: Took = {}): Starting<T> {
  const secondsOf = ({ name }: T): number => took[name] ?? WORKING[name] ?? 0;
  return {
    waiting: WAITING.flatMap((name) => jobs.filter((job) => job.name === name)),
    working: jobs.filter(({ name }) => !WAITING.includes(name)).sort((a, b) => secondsOf(b) - secondsOf(a)),
  };
}

const fileOf = (root: string): string => path.join(root, ".cache/test-seconds.json");

/** @param root of the repository. @returns what its last runs took; nothing in one where nothing ran yet */
export function tookBefore(root: string): Took {
  try {
    return JSON.parse(readFileSync(fileOf(root), "utf8")) as Took;
  } catch {
    return {};
  }
}

/** Keeps it for the next run, beside what is known of files that did not run. @param root of the repository */
export function keepTook(root: string, took: Took): void {
  mkdirSync(path.dirname(fileOf(root)), { recursive: true });
  writeFileSync(fileOf(root), JSON.stringify({ ...tookBefore(root), ...took }, undefined, 2));
}
