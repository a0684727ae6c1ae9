/** What a queue promises, whatever is underneath; `worker.ts` is what leases from it. Times are unix milliseconds. */
import type { MaybePromise } from "../contract/index.js";
import type { AnyDatabase, Coroutine, JobAddition, Query } from "../db/index.js";
import type { EachWork, SharedWork } from "./each.js";
import type { EndpointOwner, RoomOf } from "./endpoint-options.js";
import type { JobRemoval } from "./evicting.js";
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
  JobOutcome,
  JobRecord,
  JobState,
  JobTask,
  JobUnderWay,
  ListedJob,
  NewJob,
} from "./jobs.js";
import type { OrderingKeys } from "./ordering-keys.js";

export type { JobRemoval } from "./evicting.js";
export type { OrderingKeys } from "./ordering-keys.js";
export type {
  Ack,
  EndpointHealth,
  EndpointNote,
  EndpointRecord,
  EndpointRecovery,
  Job,
  JobAdjustment,
  JobCounts,
  JobFilter,
  JobOutcome,
  JobRecord,
  JobState,
  JobTask,
  JobUnderWay,
  ListedJob,
  NewJob,
};

/** How many jobs to lease, and for which endpoints there is room. */
export interface TakeRequest {
  readonly now: number;
  readonly limit: number;
  /** About how many bytes their bodies may have together: the first one may have more. Any number by default. */
  readonly bytes?: number;
  /** How many more jobs of an endpoint this instance may have leased. */
  readonly room: RoomOf;
  /** The same, shared out for itself: for a first try with endpoints that are likely to have something due. */
  readonly likely?: RoomOf;
  /** Who stands behind an endpoint: however many one has, others' come in their turn. */
  ownerOf?(endpoint: string): EndpointOwner;
}

/** What is kept of an attempt for those it was made for. */
export interface AttemptActivity {
  readonly principal: string;
  readonly subject: string;
  /** JSON. */
  readonly record: string;
  /** Unix milliseconds. */
  readonly expires: number;
}

/** Runs in the transaction that acknowledges, with the acknowledgements that took effect. */
export interface AckEffect {
  (query: Query, acked: readonly Ack[]): Coroutine<void>;
  /**
   * Where all it would write is activity: that of each acknowledgement, to be written in the statement that acknowledges.
   * Undefined where there is more.
   */
  readonly activity?: (acks: readonly Ack[]) => readonly (AttemptActivity | undefined)[] | undefined;
}

/**
 * Whether the token was still the job's; where not, nothing was written. "busy": not written, since another transaction holds
 * what has to be. Where others were written, what kept it from being.
 */
export type AckResult = boolean | "busy" | { readonly failed: unknown };

/** Clock of a queue, and how long a lease holds in milliseconds. */
export interface QueueOptions {
  /** Unix milliseconds; the system clock by default. */
  readonly now?: () => number;
  /** How long a job stays leased without news of its worker, in milliseconds. Default 10,000. */
  readonly leaseMs?: number;
}

/** Adding jobs as part of a statement of somebody else's. */
export interface QueuePart {
  readonly addition: JobAddition;
  /** To be called when the statement has added them. @param notified workers are, as its transaction commits */
  added(query: Query, notified: boolean): void;
}

/**
 * How long a lease lasts, in milliseconds. Renewed well within it; what a dead worker held is due again after it, and with a
 * look a second and an attempt of the usual length is back within 15 seconds.
 */
export const LEASE_MS = 10_000;

/** Asked first, in the transaction of a change: where it throws nothing is changed. */
export type JobGuard = (query: Query) => Coroutine<void>;

/** What keeps a job from being removed. */
export interface DropOptions {
  readonly first?: JobGuard | undefined;
  /** What the job has to be as it is removed: by then others may have sent it again, or moved it. */
  readonly meant?: Omit<JobFilter, "topic" | "after" | "limit"> | undefined;
}

/** Jobs of one topic. A leased job is nobody else's while its worker renews the lease; then it is due again. */
export interface Queue {
  readonly topic: string;
  /** Milliseconds a lease lasts from the moment it was asked for. */
  readonly leaseMs: number;
  /** Leases are answered by another process, and attempts go on meanwhile (`Dialect.remote`). */
  readonly remote: boolean;
  /** Jobs that an endpoint which is well may have leased, for each of its slots; `LEASED_PER_SLOT` by default. */
  readonly leasedPerSlot?: number | undefined;
  /** Adds jobs in the caller's own transaction: they exist when it commits. Takes no lock that others could wait for. */
  add(query: Query, jobs: readonly NewJob[]): Coroutine<void>;
  /** The same as part of another statement; undefined on an engine where that saves nothing (`Dialect.remote`). */
  part(jobs: readonly NewJob[]): QueuePart | undefined;
  /**
   * Runs `work` in a transaction of the queue's own making, which it may share with other work: when some of that fails,
   * it is undone and runs again.
   * @param key work under one key is done in the order it was asked for, where some of it has to wait for a row
   */
  transact<T>(work: SharedWork<T>, key?: string): Promise<T>;
  /**
   * The same, for work that several callers ask for at a time: where waiting for a statement is what takes the time, it is
   * given their items together.
   * @param work the same function each time
   * @param key items under one key are done one after the other, as they were asked for
   */
  transactEach<Item, T>(work: EachWork<Item, T>, item: Item, key: string): Promise<T>;
  /**
   * Runs `work` in a transaction of the application's, which is left open.
   * @returns on SQLite no promise
   * @throws AdbindError `transaction_invalid` for what is no open transaction
   */
  within<T>(tx: unknown, work: (query: Query) => Coroutine<T>): MaybePromise<T>;
  /**
   * What waits under ordering keys goes to another endpoint: whatever the one before rests or is paused for holds it no more.
   * What is leased too: an attempt that is under way goes on where it was, and the next one is made there.
   */
  redirect(query: Query, orderingKeys: OrderingKeys, endpoint: string): Coroutine<void>;
  /** Statements that read, outside any transaction: nobody waits for them, and they wait for nobody. */
  read<T>(work: (query: Query) => Coroutine<T>): Promise<T>;
  /** Leases due jobs, endpoint by endpoint. */
  take(request: TakeRequest): Promise<Job[]>;
  /** The last take has not looked at everybody: the next one goes on from there, and nobody rests before it. Never, by default. */
  goesOn?(): boolean;
  /**
   * Acknowledges leased jobs with `effect`, all in one transaction where nobody holds a row of theirs; else those that nobody holds.
   * @param waitMs how long a row is waited for that another transaction holds, in milliseconds; a moment by default
   * @throws what keeps all of them from being written
   */
  ack(acks: readonly Ack[], now: number, effect?: AckEffect, waitMs?: number): Promise<readonly AckResult[]>;
  /**
   * Prolongs leases while jobs run.
   * @param begun ids of those whose attempts are under way: where another transaction holds the row of one, its lease is prolonged as
   * that ends, before others can have it; none by default
   * @returns ids of those that are still ours, and that nobody else held
   */
  renew(jobs: readonly Job[], now: number, begun?: ReadonlySet<number>): Promise<ReadonlySet<number>>;
  /**
   * Notes that an endpoint fails, or is to be left alone until a time; every instance sees it. Of what was noted before the
   * longer pause and the earlier failure stand. What was learnt before an operator's `resume` is not noted.
   * @returns what is noted now
   */
  pause(endpoint: string, note: EndpointNote): Promise<EndpointHealth>;
  /** Notes that it does not fail any more, and shortens its pause. What an operator has paused stays so. */
  recover(endpoint: string, recovery: EndpointRecovery): Promise<void>;
  health(endpoint: string): Promise<EndpointHealth>;
  /** Endpoints of which it is noted that they fail, or that they rested until a time that is over. @param limit most of them */
  unwell(now: number, limit: number): Promise<string[]>;
  /**
   * Gives up jobs of an endpoint that are not leased and whose first attempt began before a time. A bounded number; what
   * was never attempted stays.
   * @returns how many are dead now
   */
  deadLetter(endpoint: string, before: number, error: string): Promise<number>;
  /**
   * Ends jobs of an endpoint that were added, or replayed, before a time and not attempted since. A bounded number.
   * @returns how many
   */
  expire(endpoint: string, before: number, error: string): Promise<number>;
  /**
   * Ends jobs of an endpoint that has more than `keep`: the oldest of those that were not attempted since
   * they were added or replayed. A bounded number, and no more than are too many, however many instances do it at a time.
   * @returns how many
   */
  expireBeyond(endpoint: string, keep: number, error: string): Promise<number>;
  /** An operator's pause: nothing of the endpoint is leased, however well it is, until `resume`. */
  stop(endpoint: string, now: number): Promise<void>;
  /** Those of some endpoints that an operator has paused. */
  stopped(endpoints: readonly string[]): Promise<string[]>;
  /** Ends an operator's pause, and any other the endpoint has. False when there was none. */
  resume(endpoint: string): Promise<boolean>;
  /** Endpoints that have jobs, fail or are paused, by name. @param after names after this one */
  endpoints(page: { readonly after?: string; readonly limit: number }): Promise<EndpointRecord[]>;
  /** Brings whatever lies beyond `horizon` to `now`, after the clock was set back. */
  pull(horizon: number, now: number): Promise<number>;
  /** Jobs under some ordering keys whose attempts are under way, of every worker. */
  underWay(query: Query, orderingKeys: readonly string[]): Coroutine<JobUnderWay[]>;
  list(filter?: Omit<JobFilter, "topic">): Promise<ListedJob[]>;
  get(id: number): Promise<JobRecord | undefined>;
  /** Makes a kept job due now, with a new time to live. False when there is none. */
  replay(id: number, now: number, first?: JobGuard): Promise<boolean>;
  /** Removes a job, whatever its state. False when there is none that is meant. */
  drop(id: number, now: number, only?: DropOptions): Promise<boolean>;
  counts(): Promise<JobCounts>;
  /** @returns how many jobs it was done to */
  adjust(adjustment: JobAdjustment, now: number, first?: JobGuard): Promise<number>;
  /** Removes jobs that have ended and are kept, in one transaction. @returns how many, at most the removal's limit */
  removeKept(removal: JobRemoval): Promise<number>;
  /** Calls `listener` when there may be something to take. @returns stops it */
  onWake(listener: () => void): () => void;
  /**
   * For how long nothing that is there will be due, by the last take, in milliseconds; undefined where that is unknown, or
   * where nobody would tell of what is added meanwhile.
   */
  quietMs(now: number): number | undefined;
  /**
   * What an operator should see to, in words.
   * @param activityDays days that activity is kept for which is written with acknowledgements now
   */
  alarms(now: number, activityDays: number): Promise<readonly string[]>;
  /** Lets go of what it holds; leased jobs become due again in time. The database stays open. */
  close(): Promise<void>;
}

/** Opens the queue of a topic on a database. */
export type OpenQueue = (database: AnyDatabase, topic: string, options: QueueOptions) => MaybePromise<Queue>;
