/** Jobs as both databases keep them; `runtime/queue` says what they mean. Times are unix milliseconds. */

/** `ready`: due at its time, or out. `dead`: given up, kept for a human. */
export type JobState = "ready" | "dead";

export interface NewJob {
  /** Names the job within its topic: adding a second one under it fails, unless `random`. */
  readonly key: string;
  /**
   * The key is random, so no other can have it and nothing looks: an index of random keys is the one part of adding that
   * grows dearer with the backlog. Default false.
   */
  readonly random?: boolean;
  /** Whom it burdens, e.g. a destination: turns are shared out among groups, and a group may be paused. */
  readonly group: string;
  /** Jobs of one lane are first attempted one after the other, in the order they were added. */
  readonly lane?: string | null;
  /** Not to be taken before; now by default. */
  readonly due?: number;
  /** What is known of it, for lists; JSON. */
  readonly meta: string;
  readonly body: Uint8Array;
}

export interface JobRecord {
  readonly id: number;
  readonly topic: string;
  readonly key: string;
  readonly group: string;
  readonly lane: string | null;
  readonly state: JobState;
  readonly due: number;
  /** Attempts that ended. */
  readonly attempts: number;
  readonly createdAt: number;
  /** Start of the first attempt; null before it. */
  readonly firstAt: number | null;
  /** Start of the attempt that is under way; null when none is. */
  readonly startedAt: number | null;
  /** Why the last attempt failed, or why it is dead. */
  readonly error: string | null;
  readonly meta: string;
  readonly body: Uint8Array;
}

/** A job that is out, with what proves it. */
export interface Job extends JobRecord {
  readonly firstAt: number;
  readonly startedAt: number;
  readonly claim: string;
}

/**
 * What becomes of a job that was out. `later` counts the attempt; `back` gives it back as if it had not been taken.
 */
export type Verdict =
  | { readonly kind: "done" }
  | { readonly kind: "later"; readonly due: number; readonly error: string }
  | { readonly kind: "back"; readonly due: number }
  | { readonly kind: "dead"; readonly error: string };

export interface Settlement {
  readonly job: Job;
  readonly verdict: Verdict;
}

export interface JobFilter {
  readonly topic: string;
  readonly state?: JobState;
  readonly group?: string;
  /** Ids greater than this one. */
  readonly after?: number;
  /** Most rows, at most 1,000. */
  readonly limit?: number;
}

export interface JobCounts {
  readonly ready: number;
  readonly dead: number;
}

export interface GroupHealth {
  /** Nothing of the group is taken before. */
  readonly pausedUntil: number;
  /** When it began to fail; null when it does not. */
  readonly failingSince: number | null;
}

/** A job behind another of its lane has no time of its own yet: later than any clock. */
export const BEHIND_DUE_MS = Number.MAX_SAFE_INTEGER;

export interface JobRow {
  id: number;
  topic: string;
  key: string;
  grp: string;
  lane: string | null;
  state: string;
  due: number;
  attempts: number;
  created_at: number;
  first_at: number | null;
  started_at: number | null;
  claim: string | null;
  error: string | null;
  meta: string;
  body: Uint8Array;
}

export const toJobRecord = (row: JobRow): JobRecord => ({
  id: row.id,
  topic: row.topic,
  key: row.key,
  group: row.grp,
  lane: row.lane,
  state: row.state as JobState,
  due: row.due,
  attempts: row.attempts,
  createdAt: row.created_at,
  firstAt: row.first_at,
  startedAt: row.started_at,
  error: row.error,
  meta: row.meta,
  body: row.body,
});

export const toJob = (row: JobRow): Job => ({ ...toJobRecord(row), claim: row.claim! }) as Job;

/** Its first attempt is over with this: the next of its lane may go. */
export const opensLane = ({ job, verdict }: Settlement): boolean =>
  job.lane !== null && job.attempts === 0 && verdict.kind !== "back";
