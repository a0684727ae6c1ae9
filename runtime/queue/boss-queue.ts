/**
 * Jobs behind pg-boss: one of its jobs stands for each row that may run. Taking is its claim; what may not run yet is put
 * aside in its row.
 */
import type { PgBoss } from "pg-boss";
import { BEHIND_DUE_MS, type Job } from "../store/jobs.js";
import {
  addJobs,
  buryJobs,
  dueGroups,
  freeJobs,
  groupHealth,
  JOBS_CHANNEL,
  laneHeads,
  pauseGroup,
  pullJobs,
  queuedRows,
  type Shelved,
  settleJobs,
  shelveJobs,
  startedJob,
  startJobs,
} from "../store/postgres/jobs.js";
import { countJobs, dropJob, getJob, listJobs, replayJob } from "../store/postgres/kept-jobs.js";
import type { PostgresStore } from "../store/postgres/open.js";
import type { Db, Tx } from "../store/postgres/tables.js";
import { type BossData, bossTx, type Claimed, claimOf, claimText, letGo } from "./boss-claim.js";
import type { EachWork } from "./each.js";
import { GroupCommit } from "./group-commit.js";
import type { NewJob, Queue, Settlement, TakeRequest } from "./types.js";

/**
 * Rows added here after which the planner is told how many there are. Autovacuum looks once a minute; a burst before that
 * is taken from by sorting all of it, at every take.
 */
const ANALYZE_ROWS = 10_000;
/** The least time between two looks, in milliseconds. */
const ANALYZE_MS = 5_000;

/** Jobs claimed in one transaction, and transactions in one turn before the worker gets to settle again. */
const ADMIT_JOBS = 256;
const ADMIT_ROUNDS = 16;

export class BossQueue implements Queue<Tx> {
  readonly kind = "pg-boss";
  readonly #listeners = new Set<() => void>();
  readonly #deafen: () => void;
  readonly database: Db;
  #closed = false;
  #full: string[] = [];
  /** Jobs that transactions of ours add when their work is done: all of them at once. */
  readonly #adding = new Map<Tx, NewJob[]>();
  readonly #commits: GroupCommit;
  readonly topic: string;
  readonly #schema: string;
  readonly now: () => number;
  /** Rows added since the planner was last told. */
  #added = 0;
  #analyzed = Number.NEGATIVE_INFINITY;

  constructor(
    readonly store: PostgresStore,
    readonly boss: PgBoss,
    { topic, schema, now }: { readonly topic: string; readonly schema: string; readonly now: () => number },
  ) {
    this.topic = topic;
    this.#schema = schema;
    this.now = now;
    this.database = store.database;
    // With no payload some may have been missed.
    this.#deafen = this.database.onNotify(JOBS_CHANNEL, (of = topic) => {
      if (of === topic) this.#wake();
    });
    this.#commits = new GroupCommit(store.database, (tx, work) => this.#addingTogether(tx, work));
  }

  async add(tx: Tx, jobs: readonly NewJob[]): Promise<void> {
    const adding = this.#adding.get(tx);
    if (adding !== undefined) {
      adding.push(...jobs);
      return;
    }
    await this.#queue(tx, await addJobs(tx, this.topic, jobs, this.now()));
    this.#added += jobs.length;
    if (this.#added >= ANALYZE_ROWS && performance.now() - this.#analyzed >= ANALYZE_MS) this.#analyze();
  }

  /** Beside everything else: who adds does not wait, and a look that fails is made up for by the next, or by autovacuum. */
  #analyze(): void {
    this.#added = 0;
    this.#analyzed = performance.now();
    this.store.pool.query(`analyze adbind_jobs, "${this.#schema}".job`).catch(() => undefined);
  }

  transact<T>(work: (tx: Tx) => T | Promise<T>): Promise<T> {
    return this.#commits.run(work);
  }

  transactEach<Item, T>(work: EachWork<Tx, Item, T>, item: Item): Promise<T> {
    return this.#commits.each(work, item);
  }

  async #addingTogether(tx: Tx, work: () => Promise<void>): Promise<void> {
    const jobs: NewJob[] = [];
    this.#adding.set(tx, jobs);
    try {
      await work();
    } finally {
      this.#adding.delete(tx);
    }
    if (jobs.length > 0) await this.add(tx, jobs);
  }

  /** In a transaction of its own: what takes and settles locks rows in an order that others' work must not come between. */
  #alone<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.database.transaction(work);
  }

  /**
   * Two transactions: the first holds groups and waits for nothing, the second takes rows before groups as settling does.
   * In one they would wait for each other.
   */
  async take(request: TakeRequest): Promise<Job[]> {
    await this.#release(request);
    const batchSize = Math.min(request.limit, ADMIT_JOBS);
    for (let round = 0; round < ADMIT_ROUNDS; round++) {
      const { seen, started } = await this.#alone(async (tx) => {
        const claimed = await this.boss.fetch<BossData>(this.topic, { batchSize, db: bossTx(tx) });
        return { seen: claimed.length, started: claimed.length === 0 ? [] : await this.#admit(tx, claimed, request) };
      });
      // A batch of which nothing may run hides what is behind it.
      if (started.length > 0 || seen < batchSize) return started;
    }
    return [];
  }

  settle(
    settlements: readonly Settlement[],
    now: number,
    effect?: Parameters<Queue<Tx>["settle"]>[2],
  ): Promise<boolean[]> {
    return this.#alone(async (tx) => {
      const held = await letGo(
        this,
        tx,
        settlements.map(({ job }) => claimOf(job.claim)),
      );
      const flags = settlements.map(({ job }) => held.has(claimOf(job.claim).id));
      const kept = settlements.filter((_, index) => flags[index]);
      if (kept.length > 0) await settleJobs(tx, this.topic, kept, now);
      await effect?.(tx, kept);
      return flags;
    });
  }

  async renew(jobs: readonly Job[]): Promise<void> {
    if (jobs.length > 0)
      await this.boss.touch(
        this.topic,
        jobs.map((job) => claimOf(job.claim)),
      );
  }

  async pause(group: string, health: Parameters<Queue<Tx>["pause"]>[1]): Promise<void> {
    await pauseGroup(this.database, this.topic, group, health);
    this.#wake();
  }

  health(group: string) {
    return groupHealth(this.database, this.topic, group);
  }

  bury(group: string, before: number, error: string) {
    return this.#alone((tx) => buryJobs(tx, this.topic, { group, before, error, now: this.now() }));
  }

  pull(horizon: number, now: number): Promise<number> {
    return this.#alone((tx) => pullJobs(tx, this.topic, horizon, now));
  }

  list(filter: Parameters<Queue<Tx>["list"]>[0] = {}) {
    return listJobs(this.database, { ...filter, topic: this.topic });
  }

  get(id: number) {
    return getJob(this.database, id);
  }

  replay(id: number, now: number): Promise<boolean> {
    return this.#waking((tx) => replayJob(tx, this.topic, id, now));
  }

  drop(id: number, now: number): Promise<boolean> {
    return this.#waking((tx) => dropJob(tx, this.topic, id, now));
  }

  counts() {
    return countJobs(this.database, this.topic);
  }

  onWake(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#deafen();
    this.#listeners.clear();
    await this.boss.stop({ graceful: false, close: true });
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }

  async #waking<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const result = await this.#alone(work);
    this.#wake();
    return result;
  }

  /** Makes the jobs of pg-boss that stand for rows which may run. */
  async #queue(tx: Tx, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await this.boss.insert(
      this.topic,
      ids.map((id) => ({ data: { id } })),
      { db: bossTx(tx) },
    );
  }

  /** Brings back, group by group, what was put aside and is due, as far as there is room here. */
  #release({ now, limit, room }: TakeRequest): Promise<void> {
    return this.#alone((tx) => this.#releaseIn(tx, { now, limit, room }));
  }

  async #releaseIn(tx: Tx, { now, limit, room }: TakeRequest): Promise<void> {
    const full = this.#full.filter((group) => room(group) <= 0);
    const rooms: [string, number][] = [];
    let left = limit;
    for (const group of await dueGroups(tx, this.topic, now, full)) {
      const wanted = Math.min(room(group), left);
      if (wanted > 0) rooms.push([group, wanted]);
      // Remembered, so that the groups behind a crowd of full ones are seen in the next turn.
      else full.push(group);
      left -= Math.max(0, wanted);
    }
    this.#full = full;
    if (rooms.length > 0) await this.#queue(tx, await freeJobs(tx, this.topic, now, rooms));
  }

  /** Starts what may run and puts the rest aside, for its group, its lane, or for lack of room. */
  async #admit(tx: Tx, claimed: readonly Claimed[], { now, room }: TakeRequest): Promise<Job[]> {
    const byRow = new Map(claimed.map((one) => [one.data.id, one]));
    const rows = await queuedRows(tx, [...byRow.keys()]);
    const lanes = rows.filter((row) => row.lane !== null && row.attempts === 0).map((row) => row.lane!);
    const heads = lanes.length === 0 ? new Map<string, number>() : await laneHeads(tx, this.topic, [...new Set(lanes)]);
    const taken = new Map<string, number>();
    const started: Job[] = [];
    const shelved: Shelved[] = [];
    for (const row of rows) {
      const used = taken.get(row.grp) ?? 0;
      const head = row.lane === null || row.attempts > 0 ? row.id : heads.get(row.lane);
      // No head: the lane moved on while we looked, and is looked at again.
      if (head !== row.id) {
        shelved.push({ id: row.id, group: row.grp, due: head === undefined ? now : BEHIND_DUE_MS });
      } else if (row.paused_until > now || room(row.grp) - used <= 0) {
        shelved.push({ id: row.id, group: row.grp, due: Math.max(now, row.paused_until) });
      } else {
        taken.set(row.grp, used + 1);
        started.push(startedJob(row, claimText(byRow.get(row.id)!), now));
      }
    }
    const kept = new Set(started.map((job) => claimOf(job.claim).id));
    // What was dropped has no row any more; its job of pg-boss goes with the shelved ones.
    const idle = claimed.filter((one) => !kept.has(one.id));
    if (idle.length > 0) await letGo(this, tx, idle);
    if (shelved.length > 0) await shelveJobs(tx, this.topic, shelved);
    if (started.length > 0) {
      const claims = started.map((job) => job.claim);
      await startJobs(
        tx,
        started.map((job) => job.id),
        claims,
        now,
      );
    }
    return started;
  }
}
