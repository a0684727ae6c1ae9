/** Which test files start when, so that the processors have something to do from the start of a run to its end. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Those that mostly wait, for a timer, a lease or a server: the longest first. They go few at a time beside the others, and
 * take little from them. A file that is gone does no harm.
 */
const WAITING: readonly string[] = [
  "test/sender/postgres.test.ts",
  "test/sender/sqlite.test.ts",
  "test/registry/crawl-queue.test.ts",
  "test/faults/kills.test.ts",
  "test/queue/postgres.test.ts",
  "test/behaviours/ad-server.test.ts",
  "test/seller/postgres.test.ts",
  "test/queue/sqlite.test.ts",
  "test/runtime/upkeep.test.ts",
  "test/store/postgres.test.ts",
  "test/fuzz/told-strangers.test.ts",
  "test/queue/nats-stream.test.ts",
  "test/sender/reregistered.test.ts",
  "test/queue/nats.test.ts",
  "test/split/move-postgres.test.ts",
  "test/queue/pooler.test.ts",
  "test/runtime/draining.test.ts",
  "test/registry/data-search-postgres.test.ts",
  "test/seller/sqlite.test.ts",
  "test/split/store-postgres.test.ts",
  "test/deploy/configs.test.ts",
  "test/conformance/buyer.test.ts",
  "test/interop/sender.test.ts",
  "test/split/principals-postgres.test.ts",
  "test/behaviours/report-windows.test.ts",
  "test/buyer/many.test.ts",
  "test/sender/nats.test.ts",
  "test/split/frozen.test.ts",
  "test/queue/held-rows.test.ts",
  "test/db/fail-over.test.ts",
  "test/split/seller-sqlite.test.ts",
  "test/split/move-sqlite.test.ts",
  "test/receiver/deadlines.test.ts",
  "test/db/pooler.test.ts",
  "test/split/behaviours-postgres.test.ts",
  "test/registry/data-search-copy.test.ts",
];

/** Those that mostly work, by what they take of a processor in seconds. */
const WORKING: Readonly<Record<string, number>> = {
  "test/env.test.ts": 64,
  "test/interop/bundlers.test.ts": 30,
  "test/interop/runtimes.test.ts": 35,
  "test/scaffold/container.test.ts": 28,
  "test/house/promises.test.ts": 23,
  "test/docs.test.ts": 21,
  "test/generator/mutants.test.ts": 18,
  types: 18,
  "test/package.test.ts": 16,
  "test/behaviours/project.test.ts": 14,
  "test/fuzz/strangers.test.ts": 13,
  "test/generator/published.test.ts": 13,
  "test/registry/server-instances.test.ts": 13,
  "test/scaffold/new.test.ts": 13,
  "test/registry/server-pages.test.ts": 11,
  "test/types/published.test.ts": 11,
  "test/cli/check.test.ts": 10,
  "test/cli/failure.test.ts": 10,
  "test/generator/disk.test.ts": 10,
  "test/scaffold/update.test.ts": 10,
  "test/cli/conform.test.ts": 9,
  "test/cli/demo.test.ts": 9,
  "test/fuzz/seller.test.ts": 9,
  "test/interop/outbox-python.test.ts": 9,
  "test/matrix/matrix.test.ts": 9,
  "test/registry/server-contract.test.ts": 9,
  "test/cli/generate.test.ts": 8,
  "test/cli/outbox-serve.test.ts": 8,
  "test/deploy/commands.test.ts": 8,
  "test/explorer/pages.test.ts": 8,
  "test/generator/emitted.test.ts": 8,
  "test/house.test.ts": 8,
  "test/registry/serve-sole.test.ts": 8,
  lint: 7,
  "test/fuzz/receiver.test.ts": 7,
  "test/fuzz/told-strangers.test.ts": 7,
  "test/generator/standalone.test.ts": 7,
  "test/interop/outbox.test.ts": 7,
  "test/interop/seller.test.ts": 7,
  "test/registry/data-expand-postgres.test.ts": 7,
  "test/registry/data-search-parts.test.ts": 7,
  "test/registry/data-search-sqlite.test.ts": 7,
  "test/behaviours/releases.test.ts": 6,
  "test/conformance/broken.test.ts": 6,
  "test/explorer/screens.test.ts": 6,
  "test/facts/derive.test.ts": 6,
  "test/interop/buyer.test.ts": 6,
  "test/registry/data-transfer-postgres.test.ts": 6,
  "test/registry/data-transfer-sqlite.test.ts": 6,
  "test/scaffold/buyer.test.ts": 6,
  "test/behaviours/reporting.test.ts": 5,
  "test/cli/webhook-agent.test.ts": 5,
  "test/conformance/twice.test.ts": 5,
  "test/interop/edge.test.ts": 5,
  "test/scaffold/compiles.test.ts": 5,
  "test/sender/joined-postgres.test.ts": 5,
  "test/types/hover.test.ts": 5,
  "test/types/rules.test.ts": 5,
  "test/behaviours/begun-anew.test.ts": 4,
  "test/bench/floors.test.ts": 4,
  "test/cli/call.test.ts": 4,
  "test/cli/script.test.ts": 4,
  "test/conformance/command.test.ts": 4,
  "test/db/foreign-server.test.ts": 4,
  "test/db/schema.test.ts": 4,
  "test/judges.test.ts": 4,
  "test/plan/command.test.ts": 4,
  "test/registry/crawl-hostile.test.ts": 4,
  "test/registry/server-answers.test.ts": 4,
  "test/registry/server-config.test.ts": 4,
  "test/registry/server-tokens.test.ts": 4,
  "test/runtime/plugged.test.ts": 4,
  "test/runtime/precompiled.test.ts": 4,
  "test/scaffold/compose.test.ts": 4,
  "test/split/principals-sqlite.test.ts": 4,
};

/** What one that is not here takes: eight of a process are long, and must not be the last that ends. */
const USUAL = 1;

interface Named {
  readonly name: string;
  /** Where it is more than one. */
  readonly files?: readonly string[];
}

/** @returns whether the lists say when it starts: it takes long, or waits for long */
export const hasOwnStart = (name: string): boolean => WAITING.includes(name) || Object.hasOwn(WORKING, name);

/** @returns what a file takes of a processor, in seconds */
export const usualSeconds = (name: string): number => WORKING[name] ?? USUAL;

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
  const ofFile = (name: string): number => took[name] ?? usualSeconds(name);
  const secondsOf = ({ name, files = [name] }: T): number => files.reduce((sum, file) => sum + ofFile(file), 0);
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
