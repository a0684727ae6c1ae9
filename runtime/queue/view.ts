/** What a queue holds, for who only looks: nothing is started, made or listened to. */

import type { PostgresStore, SqliteStore } from "../store/index.js";
import { countJobs, listJobs } from "../store/postgres/kept-jobs.js";
import { sqliteJobs } from "../store/sqlite/jobs.js";
import type { Queue } from "./types.js";

export type QueueView = Pick<Queue<never>, "list" | "counts">;

/** @param topic name of its jobs */
export function queueView(store: SqliteStore | PostgresStore, topic: string): QueueView {
  if (store.kind === "postgres") {
    return {
      list: (filter = {}) => listJobs(store.db, { ...filter, topic }),
      counts: () => countJobs(store.db, topic),
    };
  }
  const jobs = sqliteJobs(store.db);
  return { list: async (filter = {}) => jobs.list({ ...filter, topic }), counts: async () => jobs.counts(topic) };
}
