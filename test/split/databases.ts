/** Databases of a split, for tests: files of a folder, or databases of the run's server. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type AnyDatabase, openDatabase } from "../../runtime/db/open.js";
import type { OpenQueue } from "../../runtime/queue/types.js";
import type { SplitDatabase } from "../../runtime/store/split/member.js";
import { sharedPostgres } from "../support/postgres.js";

/** Makes databases of one engine. */
export interface Ground {
  readonly name: string;
  /** What hands out events of senders, beside the databases. */
  readonly queue?: OpenQueue;
  /** URLs of new, empty databases. */
  fresh(count: number): Promise<string[]>;
  close(): Promise<void>;
}

export function sqliteGround(): Ground {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-split-"));
  let made = 0;
  return {
    name: "sqlite",
    fresh: async (count) =>
      Array.from({ length: count }, () => {
        made += 1;
        return `sqlite:${path.join(folder, `${made}.db`)}`;
      }),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

export async function postgresGround(): Promise<Ground> {
  const cluster = await sharedPostgres();
  return {
    name: "postgres",
    fresh: (count) => Promise.all(Array.from({ length: count }, () => cluster.database())),
    close: () => cluster.stop(),
  };
}

export const NAMES = ["a", "b", "c", "d", "e"] as const;

/** Databases by name, opened anew: an instance has connections of its own. */
export const named = (urls: readonly string[], names: readonly string[] = NAMES): SplitDatabase<AnyDatabase>[] =>
  urls.map((url, at) => ({ name: names[at]!, database: () => openDatabase(url) }));
