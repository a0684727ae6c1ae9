/** The queue of many machines: jobs in PostgreSQL, leased by whichever instance comes first, endpoint by endpoint. */
import { type Coroutine, type JobAddition, type PostgresDatabase, type Query, runAsync } from "../../db/index.js";
import { isDeadlock } from "../../db/postgres/faults.js";
import type { EachWork, SharedWork } from "../each.js";
import { type JobRemoval, removeKept } from "../evicting.js";
import type {
  Ack,
  EndpointHealth,
  EndpointNote,
  EndpointRecord,
  EndpointRecovery,
  Job,
  JobAdjustment,
  JobCounts,
  JobFilter,
  JobUnderWay,
  ListedJob,
  NewJob,
} from "../jobs.js";
import { jobsUnderWay, type OrderingKeys } from "../ordering-keys.js";
import {
  type AckEffect,
  type AckResult,
  type DropOptions,
  type JobGuard,
  LEASE_MS,
  type Queue,
  type QueueOptions,
  type QueuePart,
  type TakeRequest,
} from "../types.js";
import { Acknowledging } from "./acknowledging.js";
import { AddingTransactions } from "./adding.js";
import { GroupCommit } from "./group-commit.js";
import { Growth } from "./growth.js";
import { HeldLeases } from "./held-leases.js";
import { additionOf, addJobs, wakeOthers } from "./jobs.js";
import * as kept from "./kept-jobs.js";
import { Leasing } from "./leasing.js";
import { wakePayload, wokenBy } from "./named-endpoints.js";
import { Tidying } from "./tidy.js";
import { Waker } from "./waker.js";

/** Channel on which instances are told of new jobs. */
const JOBS_CHANNEL = "adbind_jobs";
/** How long work that shares its transaction waits for a row of another one, in milliseconds; then it waits by itself. */
const SHARED_LOCK_MS = 100;
/** Each takes a second, after which the server looks for a deadlock. */
const DEADLOCK_TRIES = 3;

/**
 * Makes a queue on a PostgreSQL database; instances share it.
 * @param topic name of its jobs; several queues share a database by it
 */
export const postgresQueue = (database: PostgresDatabase, topic: string, options?: QueueOptions): Queue =>
  new PostgresQueue(database, topic, options);

/** Also what a queue is built on that has its jobs here and hands them out elsewhere. */
export class PostgresQueue implements Queue {
  readonly leaseMs: number;
  readonly remote = true;
  readonly #now: () => number;
  readonly #waker: Waker;
  readonly #commits: GroupCommit;
  readonly #adding: AddingTransactions;
  readonly #acknowledging: Acknowledging;
  readonly #leasing: Leasing;
  readonly #leases: HeldLeases;
  readonly #tidying: Tidying;
  readonly #growth: Growth;

  constructor(
    readonly database: PostgresDatabase,
    readonly topic: string,
    { now = Date.now, leaseMs = LEASE_MS }: QueueOptions = {},
  ) {
    this.leaseMs = leaseMs;
    this.#now = now;
    this.#leasing = new Leasing(database, topic, leaseMs);
    this.#leases = new HeldLeases(database, leaseMs);
    this.#tidying = new Tidying(database);
    this.#growth = new Growth(database);
    this.#waker = new Waker((endpoints) =>
      database.query((q) => wakeOthers(q, JOBS_CHANNEL, wakePayload(topic, endpoints))),
    );
    this.#adding = new AddingTransactions(database, this.#waker);
    this.#acknowledging = new Acknowledging(database, topic, this.#adding, SHARED_LOCK_MS);
    this.#commits = new GroupCommit(
      (work, lockTimeoutMs) => this.#adding.transaction(work, lockTimeoutMs),
      (work) => this.#adding.alone(work),
      { sharedMs: SHARED_LOCK_MS, longestMs: database.lockTimeoutMs },
    );
  }

  *add(query: Query, jobs: readonly NewJob[]): Coroutine<void> {
    if (jobs.length === 0) return;
    this.#noteAdded(query, jobs, yield* addJobs(query, this.#addition(jobs)));
  }

  *redirect(query: Query, keys: OrderingKeys, endpoint: string): Coroutine<void> {
    const count = yield* kept.redirectJobs(query, this.topic, { keys, endpoint, leaseMs: this.leaseMs });
    if (count > 0) this.#adding.note(query, [endpoint], false);
  }

  part(jobs: readonly NewJob[]): QueuePart {
    return {
      addition: this.#addition(jobs),
      added: (query, notified) => this.#noteAdded(query, jobs, notified),
    };
  }

  #addition(jobs: readonly NewJob[]): JobAddition {
    return additionOf(jobs, this.topic, { now: this.#now(), notifies: this.#waker.mayNotify() });
  }

  #noteAdded(query: Query, jobs: readonly NewJob[], notified: boolean): void {
    const endpoints = jobs.map(({ endpoint }) => endpoint);
    this.#adding.note(query, endpoints, notified);
    this.#growth.added(jobs.length);
  }

  transact<T>(work: SharedWork<T>, key?: string): Promise<T> {
    return this.#commits.run(work, key);
  }

  transactEach<Item, T>(work: EachWork<Item, T>, item: Item, key: string): Promise<T> {
    return this.#commits.each(work, item, key);
  }

  async within<T>(tx: unknown, work: (query: Query) => Coroutine<T>): Promise<T> {
    const query = await runAsync(this.database.join(tx));
    if (this.#adding.has(query)) return runAsync(work(query));
    this.#adding.begin(query);
    try {
      return await runAsync(work(query));
    } finally {
      this.#adding.leave(query, tx);
    }
  }

  read<T>(work: (query: Query) => Coroutine<T>): Promise<T> {
    return this.database.query(work);
  }

  quietMs(now: number): number | undefined {
    return this.database.listening ? this.#leasing.quietMs(now) : undefined;
  }

  async alarms(now: number, activityDays: number): Promise<readonly string[]> {
    // Asked for once an hour: loaded where it is wanted.
    const { partitionAlarms } = await import("./partition-alarms.js");
    return this.database.query((q) => partitionAlarms(q, now, activityDays));
  }

  /** Looks after bodies of jobs that are gone, now and then. */
  protected tidy(now: number): void {
    this.#tidying.soon(now);
  }

  async take(request: TakeRequest): Promise<Job[]> {
    this.tidy(request.now);
    return this.#leasing.take(request);
  }

  goesOn(): boolean {
    return this.#leasing.goesOn;
  }

  ack(acks: readonly Ack[], now: number, effect?: AckEffect, waitMs?: number): Promise<AckResult[]> {
    return this.#acknowledging.ack(acks, now, effect, waitMs);
  }

  renew(jobs: readonly Job[], _now: number, begun?: ReadonlySet<number>): Promise<ReadonlySet<number>> {
    return this.#leases.renew(jobs, begun);
  }

  pause(endpoint: string, note: EndpointNote): Promise<EndpointHealth> {
    return this.database.query((q) => kept.pauseEndpoint(q, this.topic, endpoint, note));
  }

  async recover(endpoint: string, recovery: EndpointRecovery): Promise<void> {
    await this.database.query((q) => kept.recoverEndpoint(q, this.topic, endpoint, recovery));
    this.#waker.committed([endpoint]);
  }

  health(endpoint: string): Promise<EndpointHealth> {
    return this.database.query((q) => kept.endpointHealth(q, this.topic, endpoint));
  }

  unwell(now: number, limit: number): Promise<string[]> {
    return this.database.query((q) => kept.unwellEndpoints(q, this.topic, now, limit));
  }

  deadLetter(endpoint: string, before: number, error: string): Promise<number> {
    const given = { endpoint, before, error, now: this.#now() };
    return this.#write((q) => kept.deadLetterJobs(q, this.topic, given));
  }

  expire(endpoint: string, before: number, error: string): Promise<number> {
    const given = { endpoint, before, error, now: this.#now() };
    return this.#write((q) => kept.expireJobs(q, this.topic, given));
  }

  expireBeyond(endpoint: string, keep: number, error: string): Promise<number> {
    const given = { endpoint, keep, error, now: this.#now() };
    return this.#write((q) => kept.expireBeyond(q, this.topic, given));
  }

  async stop(endpoint: string, now: number): Promise<void> {
    await this.database.write((q) => kept.stopEndpoint(q, this.topic, endpoint, now));
  }

  stopped(endpoints: readonly string[]): Promise<string[]> {
    return this.database.query((q) => kept.stoppedEndpoints(q, this.topic, endpoints));
  }

  async resume(endpoint: string): Promise<boolean> {
    return (await this.#waking((q) => kept.resumeEndpoint(q, this.topic, endpoint, this.#now()))) > 0;
  }

  endpoints({ after = "", limit }: { readonly after?: string; readonly limit: number }): Promise<EndpointRecord[]> {
    return this.database.query((q) => kept.listEndpoints(q, this.topic, after, limit));
  }

  pull(horizon: number, now: number): Promise<number> {
    return this.#write((q) => kept.pullJobs(q, this.topic, horizon, now));
  }

  underWay(query: Query, orderingKeys: readonly string[]): Coroutine<JobUnderWay[]> {
    return jobsUnderWay(query, this.topic, orderingKeys);
  }

  list(filter: Omit<JobFilter, "topic"> = {}): Promise<ListedJob[]> {
    return this.database.query((q) => kept.listJobs(q, { ...filter, topic: this.topic }));
  }

  get(id: number): ReturnType<Queue["get"]> {
    return this.database.query((q) => kept.getJob(q, id));
  }

  replay(id: number, now: number, first?: JobGuard): Promise<boolean> {
    return this.#waking((q) => kept.replayJob(q, id, now), first);
  }

  drop(id: number, now: number, { first, meant }: DropOptions = {}): Promise<boolean> {
    return this.#waking((q) => kept.dropJob(q, id, { ...meant, topic: this.topic }, now), first);
  }

  async #waking<T>(work: (query: Query) => Coroutine<T>, first?: JobGuard): Promise<T> {
    const result = await this.#write(function* (q) {
      if (first !== undefined) yield* first(q);
      return yield* work(q);
    });
    this.#waker.committed();
    return result;
  }

  /** Of two that end jobs under one key at a time, and wait for each other, the server stops one: it has only to be done again. */
  async #write<T>(work: (query: Query) => Coroutine<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.database.write(work);
      } catch (error) {
        if (tries === DEADLOCK_TRIES || !isDeadlock(error)) throw error;
      }
    }
  }

  adjust(what: JobAdjustment, now: number, first?: JobGuard): Promise<number> {
    return this.#waking((q) => kept.adjustJobs(q, this.topic, what, now), first);
  }

  removeKept(what: JobRemoval): Promise<number> {
    return this.database.write((q) => removeKept(q, this.topic, what, ["at", "job"]));
  }

  counts(): Promise<JobCounts> {
    return this.database.query((q) => kept.countJobs(q, this.topic));
  }

  onWake(listener: () => void): () => void {
    const woken = (endpoints: readonly string[]): void => {
      this.#leasing.added(endpoints);
      listener();
    };
    const unlisten = this.database.onNotify(JOBS_CHANNEL, (payload) => {
      const { topic, endpoints } = wokenBy(payload);
      if (topic === undefined || topic === this.topic) this.#waker.tell(woken, endpoints);
    });
    const forget = this.#waker.onWake(woken);
    return () => {
      unlisten();
      forget();
    };
  }

  async close(): Promise<void> {
    this.#waker.close();
  }
}
