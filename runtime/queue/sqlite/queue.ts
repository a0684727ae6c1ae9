/** The queue of one machine: it lives in the SQLite database's own file. */
import { randomUUID } from "node:crypto";
import type { Database } from "better-sqlite3";
import { type Coroutine, type Query, runSync, type SqliteDatabase } from "../../db/index.js";
import { checkIndexNames } from "../../db/names.js";
import type { SqliteQuery } from "../../db/sqlite/query.js";
import { AdbindError } from "../../errors.js";
import { oneOf } from "../each.js";
import { type JobRemoval, removeKept } from "../evicting.js";
import { checkJobNames } from "../jobs.js";
import { jobsUnderWay } from "../ordering-keys.js";
import {
  type DropOptions,
  type EndpointNote,
  type EndpointRecovery,
  type JobAdjustment,
  type JobFilter,
  type JobGuard,
  LEASE_MS,
  type Queue,
  type QueueOptions,
} from "../types.js";
import { sqliteJobs } from "./jobs.js";
import { type KeptJobs, keptJobs } from "./kept-jobs.js";
import type { Round, SqliteJobs } from "./sqlite-jobs.js";

/** A synchronous transaction cannot wait; a promise would run on after it has been committed. */
const refusePromise = (): AdbindError =>
  new AdbindError("store_effect", "the work met a promise, and SQLite's transaction cannot wait", {
    remedy: "await what it needs before, then do synchronous work",
  });

/** Statements of each handle: an application's own may be on the same file. */
const known = new WeakMap<Database, SqliteJobs>();
const jobsOf = (handle: Database): SqliteJobs => {
  const jobs = known.get(handle) ?? sqliteJobs(handle);
  known.set(handle, jobs);
  return jobs;
};

const guarded = <T>(first: JobGuard, work: () => T) =>
  function* (query: Query): Coroutine<T> {
    yield* first(query);
    return work();
  };

/**
 * Makes a queue on a SQLite database.
 * @param topic name of its jobs; several queues share a database by it
 */
export function sqliteQueue(database: SqliteDatabase, topic: string, options: QueueOptions = {}): Queue {
  const { now = Date.now, leaseMs = LEASE_MS } = options;
  const { writer, file } = database;
  const jobs = jobsOf(file);
  const kept = keptJobs(file, jobs);
  const instance = randomUUID();
  const listeners = new Set<() => void>();
  const round: Round = { seen: [0, ""], vain: true, whole: true };
  let [taken, goesOn] = [0, false];
  const wake = (): void => listeners.forEach((listener) => void listener());
  const alone = <T>(work: () => T) => writer.write(work);
  const waking = async <T>(work: () => T, first?: JobGuard): Promise<T> => {
    const result = await (first === undefined ? writer.write(work) : database.write(guarded(first, work)));
    wake();
    return result;
  };
  return {
    ...{ topic, leaseMs, remote: false, goesOn: () => goesOn },
    ...comingTo(topic, now, wake),
    part: () => undefined,
    transact: (work) => database.write((query) => work(query, "wait")),
    // A statement of SQLite is a call: there is nothing to gain from several items at a time.
    transactEach: (work, item) =>
      database.write(function* (query) {
        return oneOf(yield* work(query, [item], "wait"));
      }),
    within: (tx, work) => runSync(work(runSync(database.join(tx))), refusePromise),
    read: (work) => database.query(work),
    async take(request) {
      taken += 1;
      const given = { ...request, topic, token: `${instance}:${taken}`, until: request.now + leaseMs, round };
      // After a look that failed it is not gone on at once.
      goesOn = false;
      // A lease that is undone has only to be taken again, as on PostgreSQL.
      const found = await writer.unsynced(() => jobs.take(given));
      goesOn = !round.whole;
      return found;
    },
    ack: (acks, at, effect) =>
      database.write(function* (query) {
        const held = jobs.ack(acks, at);
        if (effect !== undefined)
          yield* effect(
            query,
            acks.filter((_, index) => held[index]),
          );
        return held;
      }),
    renew: (held, at) => writer.unsynced(() => jobs.renew(held, at + leaseMs)),
    ...careOf({ database, jobs, kept, topic, leaseMs, now, alone, waking }),
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

/** In a transaction of the caller's, which is synchronous: when others are woken it has ended. */
const comingTo = (topic: string, now: () => number, wake: () => void): Pick<Queue, "add" | "redirect"> => ({
  // biome-ignore lint/correctness/useYield: a statement of SQLite never waits
  *add(query, added) {
    checkJobNames(topic, added);
    jobsOf((query as SqliteQuery).db).add(topic, added, now());
    setImmediate(wake);
  },
  // biome-ignore lint/correctness/useYield: a statement of SQLite never waits
  *redirect(query, orderingKeys, endpoint) {
    jobsOf((query as SqliteQuery).db).redirect(topic, orderingKeys, endpoint, now());
    setImmediate(wake);
  },
});

interface Care {
  readonly database: SqliteDatabase;
  readonly jobs: SqliteJobs;
  readonly kept: KeptJobs;
  readonly topic: string;
  readonly leaseMs: number;
  readonly now: () => number;
  alone<T>(work: () => T): Promise<T>;
  waking<T>(work: () => T, first?: JobGuard): Promise<T>;
}

/** What is done to endpoints, and by operators. */
function careOf({ database, jobs, kept, topic, leaseMs, now, alone, waking }: Care) {
  return {
    quietMs: () => undefined,
    alarms: async () => [],
    pause: (endpoint: string, note: EndpointNote) => alone(() => jobs.pause(topic, endpoint, note)),
    recover: (endpoint: string, recovery: EndpointRecovery) => waking(() => jobs.recover(topic, endpoint, recovery)),
    unwell: async (at: number, limit: number) => jobs.unwell(topic, at, limit),
    health: async (endpoint: string) => jobs.health(topic, endpoint),
    deadLetter: (endpoint: string, before: number, error: string) =>
      alone(() => jobs.deadLetter(topic, endpoint, { before, now: now(), error })),
    expire: (endpoint: string, before: number, error: string) =>
      alone(() => jobs.expire(topic, endpoint, { before, now: now(), error })),
    expireBeyond: (endpoint: string, keep: number, error: string) =>
      alone(() => jobs.expireBeyond(topic, endpoint, { keep, now: now(), error })),
    async stop(endpoint: string, at: number) {
      checkIndexNames({ topic, endpoint });
      await alone(() => jobs.stop(topic, endpoint, at));
    },
    stopped: async (endpoints: readonly string[]) => jobs.stopped(topic, endpoints),
    resume: (endpoint: string) => waking(() => jobs.resume(topic, endpoint, now())),
    endpoints: async ({ after = "", limit }: { readonly after?: string; readonly limit: number }) =>
      jobs.endpoints(topic, after, limit),
    underWay: (query: Query, orderingKeys: readonly string[]) => jobsUnderWay(query, topic, orderingKeys),
    pull: (horizon: number, at: number) => alone(() => jobs.pull(topic, { horizon, now: at, leased: at + leaseMs })),
    list: async (filter: Omit<JobFilter, "topic"> = {}) => kept.list({ ...filter, topic }),
    get: async (id: number) => kept.get(id),
    replay: (id: number, at: number, first?: JobGuard) => waking(() => kept.replay(id, at), first),
    drop: (id: number, at: number, { first, meant }: DropOptions = {}) =>
      waking(() => kept.drop(id, { ...meant, topic }, at), first),
    counts: async () => kept.counts(topic),
    adjust: (what: JobAdjustment, at: number, first?: JobGuard) => waking(() => kept.adjust(topic, what, at), first),
    removeKept: (what: JobRemoval) => database.write((q) => removeKept(q, topic, what, ["job"])),
  } satisfies Partial<Queue>;
}
