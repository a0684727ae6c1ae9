/** What a queue holds, for who only looks: nothing is started, made or listened to. */
import type { AnyStore } from "../store/index.js";
import { countJobs, listJobs } from "../store/postgres/kept-jobs.js";
import { sqliteJobs } from "../store/sqlite/jobs.js";
import type { Queue } from "./types.js";

export type QueueView = Pick<Queue, "list" | "counts">;

/** @param topic name of its jobs */
export function queueView(store: AnyStore, topic: string): QueueView {
  if ("pool" in store) {
    const { database } = store;
    return {
      list: (filter = {}) => listJobs(database, { ...filter, topic }),
      counts: () => countJobs(database, topic),
    };
  }
  const jobs = sqliteJobs(store.db);
  return { list: async (filter = {}) => jobs.list({ ...filter, topic }), counts: async () => jobs.counts(topic) };
}
