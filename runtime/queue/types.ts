/** What a queue promises, whatever is underneath; `worker.ts` is what takes from it. Times are unix milliseconds. */
import type { MaybePromise } from "../contract/index.js";
import type { Database } from "../db/types.js";
import type {
  GroupHealth,
  Job,
  JobCounts,
  JobFilter,
  JobRecord,
  JobState,
  NewJob,
  Settlement,
  Verdict,
} from "../store/jobs.js";
import type { EachWork } from "./each.js";

export type { GroupHealth, Job, JobCounts, JobFilter, JobRecord, JobState, NewJob, Settlement, Verdict };

export interface TakeRequest {
  readonly now: number;
  readonly limit: number;
  /** How many more jobs of a group this instance may have out. */
  room(group: string): number;
}

/** Runs in the transaction that settles, with the settlements that took effect. */
export type SettleEffect<Tx> = (tx: Tx, settled: readonly Settlement[]) => MaybePromise<void>;

/**
 * Jobs of one topic. A job that is out is nobody else's while its worker lives; when that dies, it is due again within
 * 30 seconds. `Tx` is what the store's transactions are: the SQLite connection, or a client of `pg`.
 */
export interface Queue<Tx = unknown> {
  readonly kind: "embedded" | "pg-boss";
  readonly topic: string;
  /** Where its jobs are. */
  readonly database: Database<Tx>;
  /**
   * Adds jobs in the caller's own transaction: they exist when it commits. On SQLite nothing is awaited and the answer is
   * no promise, so that it fits into a synchronous transaction.
   */
  add(tx: Tx, jobs: readonly NewJob[]): MaybePromise<void>;
  /**
   * Runs `work` in a transaction of the queue's own making, which it may share with other work: when some of that fails,
   * it is undone and runs again. On SQLite it must not return a promise.
   */
  transact<T>(work: (tx: Tx) => MaybePromise<T>): Promise<T>;
  /**
   * The same, for work that several callers ask for at a time: where waiting for a statement is what takes the time, it is
   * given their items together.
   * @param work the same function each time
   */
  transactEach<Item, T>(work: EachWork<Tx, Item, T>, item: Item): Promise<T>;
  /** Takes due jobs, fairly over groups. */
  take(request: TakeRequest): Promise<Job[]>;
  /**
   * Settles jobs that were out, all in one transaction with `effect`.
   * @returns for each whether its claim still held; where not, nothing was written for it
   */
  settle(settlements: readonly Settlement[], now: number, effect?: SettleEffect<Tx>): Promise<readonly boolean[]>;
  /** Keeps jobs out while they run. */
  renew(jobs: readonly Job[], now: number): Promise<void>;
  /** Stops taking from a group until a time, or resumes it; every instance sees it. */
  pause(group: string, health: GroupHealth): Promise<void>;
  health(group: string): Promise<GroupHealth>;
  /**
   * Gives up jobs of a group that are not out and were first attempted, or else made, before a time. A bounded number.
   * @returns the jobs that are dead now
   */
  bury(group: string, before: number, error: string): Promise<readonly JobRecord[]>;
  /** Brings whatever lies beyond `horizon` to `now`, after the clock was set back. */
  pull(horizon: number, now: number): Promise<number>;
  list(filter?: Omit<JobFilter, "topic">): Promise<JobRecord[]>;
  get(id: number): Promise<JobRecord | undefined>;
  /** Makes a dead job due now, with a new time to live. False when there is none. */
  replay(id: number, now: number): Promise<boolean>;
  /** Removes a job, whatever its state. False when there is none. */
  drop(id: number, now: number): Promise<boolean>;
  counts(): Promise<JobCounts>;
  /** Calls `listener` when there may be something to take. @returns stops it */
  onWake(listener: () => void): () => void;
  /** Lets go of what it holds; jobs that are out become due again in time. */
  close(): Promise<void>;
}
