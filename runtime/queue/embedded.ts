/** The queue of one machine: it lives in the SQLite store's own file. */
import { randomUUID } from "node:crypto";
import type { Database } from "better-sqlite3";
import { sqliteJobs } from "../store/sqlite/jobs.js";
import type { SqliteStore } from "../store/sqlite/open.js";
import { refusePromise } from "../store/sqlite/refuse-promise.js";
import { oneOf } from "./each.js";
import type { Queue } from "./types.js";

/** Names what a caller does in a transaction. */
const WORK = "the work";
/** How long a job stays out without news of its worker. Renewed at a quarter of it; under the promised 30 s. */
const LEASE_MS = 20_000;

export interface EmbeddedQueueOptions {
  /** Unix milliseconds; the system clock by default. */
  readonly now?: () => number;
  /** Milliseconds; default 20,000. */
  readonly leaseMs?: number;
}

/**
 * Makes a queue on a SQLite store.
 * @param topic name of its jobs; several queues share a store by it
 */
export function embeddedQueue(store: SqliteStore, topic: string, options: EmbeddedQueueOptions = {}): Queue<Database> {
  const { now = Date.now, leaseMs = LEASE_MS } = options;
  const jobs = sqliteJobs(store.db);
  const { writer } = store.database;
  const instance = randomUUID();
  const listeners = new Set<() => void>();
  let taken = 0;
  const wake = (): void => {
    for (const listener of listeners) listener();
  };
  const waking = async <T>(work: () => T): Promise<T> => {
    const result = await writer.write(work);
    wake();
    return result;
  };
  return {
    kind: "embedded",
    topic,
    database: store.database,
    add(_tx, added) {
      jobs.add(topic, added, now());
      // The caller's transaction is synchronous: by then it has ended.
      setImmediate(wake);
    },
    transact: (work) => writer.guarded(() => refusePromise(work(store.db), WORK)),
    // A statement of SQLite is a call: there is nothing to gain from several items at a time.
    transactEach: (work, item) => writer.guarded(() => oneOf(refusePromise(work(store.db, [item]), WORK))),
    take(request) {
      taken += 1;
      const claim = `${instance}:${taken}`;
      return writer.write(() => jobs.take({ ...request, topic, claim, until: request.now + leaseMs }));
    },
    settle: (settlements, at, effect) =>
      writer.guarded(() => {
        const held = jobs.settle(settlements, at);
        if (effect !== undefined)
          refusePromise(
            effect(
              store.db,
              settlements.filter((_, index) => held[index]),
            ),
            WORK,
          );
        return held;
      }),
    renew: (held, at) => writer.write(() => jobs.renew(held, at + leaseMs)),
    pause: (group, health) => waking(() => jobs.pause(topic, group, health)),
    health: async (group) => jobs.health(topic, group),
    bury: (group, before, error) => writer.write(() => jobs.bury(topic, group, { before, now: now(), error })),
    pull: (horizon, at) => writer.write(() => jobs.pull(topic, horizon, at)),
    list: async (filter = {}) => jobs.list({ ...filter, topic }),
    get: async (id) => jobs.get(id),
    replay: (id, at) => waking(() => jobs.replay(id, at)),
    drop: (id, at) => waking(() => jobs.drop(id, at)),
    counts: async () => jobs.counts(topic),
    onWake(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      writer.flush();
      listeners.clear();
    },
  };
}
