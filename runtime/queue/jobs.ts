/** Jobs as every engine keeps them; `types.ts` says what a queue does with them. Times are unix milliseconds. */
import { likePart } from "../db/like.js";
import { checkIndexNames } from "../db/names.js";

/**
 * `ready`: due at its time, or leased. `dead`: attempted and given up. `expired`: waited too long without an attempt.
 * `refused`: could not be read or carried out. All but the first are kept for a person.
 */
export type JobState = "ready" | "dead" | "expired" | "refused";

/** A job to be queued. */
export interface NewJob {
  /** Names the job within its topic: adding a second one under it fails, unless `random`. */
  readonly key: string;
  /**
   * The key is random, so no other can have it and nothing looks: an index of random keys is the one part of adding that
   * grows dearer with the backlog. Default false.
   */
  readonly random?: boolean;
  /** Whom it burdens: turns are shared out among endpoints, and an endpoint may be paused. At most 2,400 bytes of UTF-8. */
  readonly endpoint: string;
  /** Jobs under one key are first attempted one after the other, in the order they were added. At most 2,400 bytes of UTF-8. */
  readonly orderingKey?: string | null;
  /** Not to be leased before, unless it has to wait for another under its ordering key; now by default. */
  readonly due?: number;
  /** What is known of it, for lists; JSON. */
  readonly meta: string;
  /** Text is kept as UTF-8. */
  readonly body: string | Uint8Array;
}

/** @throws AdbindError `name_invalid` for a job that no index takes */
export function checkJobNames(topic: string, jobs: readonly NewJob[]): void {
  for (const { key, endpoint, orderingKey } of jobs) {
    checkIndexNames({ topic, key });
    checkIndexNames({ topic, endpoint });
    if (orderingKey != null) checkIndexNames({ topic, orderingKey });
  }
}

/** A job as it is listed: with others, whose bodies may be a gigabyte. Times are unix milliseconds. */
export interface ListedJob {
  readonly id: number;
  readonly topic: string;
  readonly key: string;
  readonly endpoint: string;
  readonly orderingKey: string | null;
  readonly state: JobState;
  /** Of what has ended when it did. */
  readonly due: number;
  /** Attempts that ended. */
  readonly attempts: number;
  readonly createdAt: number;
  /** Start of the first attempt; null before it. */
  readonly firstAt: number | null;
  /** Start of the attempt that is under way; null when none is. */
  readonly startedAt: number | null;
  /** Why the last attempt failed, or why it is kept. */
  readonly error: string | null;
  readonly meta: string;
  /** Of its body, as it is stored. */
  readonly bytes: number;
}

/** A job as operators see it. */
export interface JobRecord extends Omit<ListedJob, "bytes"> {
  readonly body: Uint8Array;
}

/** A task in whose order a job goes, as it was stored when the job was leased. */
export interface JobTask {
  readonly task_id: string;
  readonly principal: string;
  readonly status: string;
  readonly details: string;
  /** When it was looked up, as `performance.now()` says it. */
  readonly lookedAt: number;
}

/** A job that is leased, with what proves it. */
export interface Job extends JobRecord {
  readonly firstAt: number;
  readonly startedAt: number;
  readonly token: string;
  /** Where a lease looks it up. */
  readonly task?: JobTask | undefined;
}

/** A job whose attempt is under way, wherever its worker is. */
export type JobUnderWay = Pick<Job, "id" | "key" | "attempts" | "startedAt" | "meta">;

/**
 * What became of a leased job. `later` counts the attempt; `released` gives it back as if it had not been leased, under
 * another endpoint where it has moved, and with it what waits under its ordering key; `refused` sets it aside without an
 * attempt.
 */
export type JobOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "later"; readonly due: number; readonly error: string }
  | { readonly kind: "released"; readonly due: number; readonly endpoint?: string }
  | { readonly kind: "dead"; readonly error: string }
  | { readonly kind: "refused"; readonly error: string };

/** Tells the queue what became of a leased job. */
export interface Ack {
  readonly job: Job;
  readonly outcome: JobOutcome;
  /** What its effect goes by. */
  readonly note?: object | undefined;
}

/** Which jobs to list or change. `from` and `to` are unix milliseconds. */
export interface JobFilter {
  readonly topic: string;
  readonly state?: JobState;
  readonly endpoint?: string;
  /** Endpoints that begin with this. */
  readonly endpointStart?: string;
  /** Endpoints in whose name this is. */
  readonly endpointPart?: string;
  readonly orderingKeys?: readonly string[];
  /** Added at this time or later, and before that one. */
  readonly from?: number;
  readonly to?: number;
  /** Ids greater than this one. */
  readonly after?: number;
  /** Most rows, at most 1,000. */
  readonly limit?: number;
}

/** A filter as conditions on `adbind_jobs`, one text for every engine, and the values for its `?`. */
export function filterSql(filter: JobFilter): { readonly where: string; readonly values: (string | number)[] } {
  const { topic, state, endpoint, endpointStart, endpointPart, orderingKeys, from, to, after = 0 } = filter;
  const conditions: (readonly [text: string, ...values: (string | number)[]])[] = [["topic = ?", topic]];
  conditions.push(["id > ?", after]);
  if (state !== undefined) conditions.push(["state = ?", state]);
  if (endpoint !== undefined) conditions.push(["endpoint = ?", endpoint]);
  if (endpointStart !== undefined) conditions.push(["endpoint like ? escape '!'", `${likePart(endpointStart)}%`]);
  if (endpointPart !== undefined) conditions.push(["endpoint like ? escape '!'", `%${likePart(endpointPart)}%`]);
  if (orderingKeys !== undefined)
    conditions.push([`ordering_key in (${orderingKeys.map(() => "?").join(", ") || "null"})`, ...orderingKeys]);
  if (from !== undefined) conditions.push(["created_at >= ?", from]);
  if (to !== undefined) conditions.push(["created_at < ?", to]);
  return {
    where: conditions.map(([text]) => text).join(" and "),
    values: conditions.flatMap(([, ...values]) => values),
  };
}

/**
 * What an operator does to jobs. `hasten`: what waits for its next attempt, and is not leased, is due now. `rehome`: those of
 * some jobs that are an endpoint's become another's, what is leased too: after its attempt it waits there.
 */
export type JobAdjustment =
  | { readonly kind: "hasten"; readonly id: number }
  | { readonly kind: "rehome"; readonly from: string; readonly to: string; readonly ids: readonly number[] };

/** How many jobs there are, by state. */
export type JobCounts = Readonly<Record<JobState, number>>;

export const noJobs: JobCounts = { ready: 0, dead: 0, expired: 0, refused: 0 };

/** How an endpoint is: left alone until a time, failing since a time, in unix milliseconds. */
export interface EndpointHealth {
  /** Nothing of the endpoint is leased before. */
  readonly pausedUntil: number;
  /** When it began to fail; null when it does not. */
  readonly failingSince: number | null;
}

/** What an attempt has taught of an endpoint. */
export interface EndpointNote extends EndpointHealth {
  /** When the attempt began, in unix milliseconds: one from before an operator's `resume` says nothing of what came after. */
  readonly began: number;
}

/** What has ended of an endpoint's bad spell. Times are unix milliseconds. */
export interface EndpointRecovery {
  /** Its pause ends then at the latest: one that is over sooner, or that was ended, is left as it is. */
  readonly until: number;
  readonly now: number;
}

/** An endpoint as an operator sees it. */
export interface EndpointRecord extends EndpointHealth {
  readonly endpoint: string;
  /** Since when an operator has it paused; null where none has. */
  readonly stoppedAt: number | null;
  /** When an operator resumed it last; 0 where none has. */
  readonly resumedAt: number;
  /** Jobs that are ready or leased. */
  readonly waiting: number;
  /** One of them; null where there is none. */
  readonly sample: number | null;
}

export interface EndpointRow {
  endpoint: string;
  waiting: number;
  sample: number | null;
  paused_until: number | null;
  failing_since: number | null;
  stopped_at: number | null;
  resumed_at: number | null;
}

export const toEndpointRecord = (row: EndpointRow): EndpointRecord => ({
  endpoint: row.endpoint,
  pausedUntil: row.paused_until ?? 0,
  failingSince: row.failing_since,
  stoppedAt: row.stopped_at,
  resumedAt: row.resumed_at ?? 0,
  waiting: row.waiting,
  sample: row.sample,
});

/** Condition on an endpoint of which something is noted that an operator can end. */
export const NOTED = "(stopped_at is not null or failing_since is not null or paused_until > 0)";

/**
 * Parameters: topic, endpoint to begin after, limit; the same again; topic; topic, endpoint to begin after; limit. One text for every
 * engine. What waits is read once for all of a page, which follow each other: a planner that knows one endpoint with much and not the
 * others would look through all of that for each of them.
 */
export const ENDPOINTS_SQL = `
  with busy as (select distinct endpoint from adbind_jobs
    where topic = ? and state = 'ready' and endpoint > ? order by endpoint limit ?)
  select n.endpoint, e.paused_until, e.failing_since, e.stopped_at, e.resumed_at, coalesce(w.waiting, 0) as waiting, w.sample
  from (
    select endpoint from busy
    union
    select endpoint from (select endpoint from adbind_endpoints
      where topic = ? and endpoint > ? and (failing_since is not null or stopped_at is not null or paused_until > 0)
      order by endpoint limit ?) as known
  ) as n
  left join adbind_endpoints e on e.topic = ? and e.endpoint = n.endpoint
  left join (select endpoint, count(*) as waiting, min(id) as sample from adbind_jobs
    where topic = ? and state = 'ready' and endpoint > ? and endpoint <= (select max(endpoint) from busy)
    group by endpoint) as w on w.endpoint = n.endpoint
  order by n.endpoint limit ?`;

/** Parameters: topic, time, limit. One text for every engine. */
export const UNWELL_SQL = `select endpoint from adbind_endpoints
  where topic = ? and (failing_since is not null or (paused_until > 0 and paused_until <= ?)) limit ?`;

/** A job behind another under its ordering key has no time of its own yet: later than any clock. */
export const BEHIND_DUE_MS = Number.MAX_SAFE_INTEGER;

/** By then what was under way when an endpoint was resumed has ended everywhere, in milliseconds. */
export const LATE_MS = 60_000;

/** Most rows of one list. */
export const LIST_LIMIT_JOBS = 1_000;

/** Condition on a job that was never attempted, or not since it was replayed: its age is that of its adding. */
export const UNATTEMPTED = "(attempts = 0 or first_at is null)";

/** Jobs of an endpoint given up in one transaction. */
export const GIVE_UP_LIMIT_ROWS = 500;

/** The endpoint a job has moved to. */
export const movedTo = ({ outcome }: Ack): string | null =>
  outcome.kind === "released" ? (outcome.endpoint ?? null) : null;

/** Its first attempt is over with this, or there will be none: the next under its ordering key may go. */
export const letsNextGo = ({ job, outcome }: Ack): boolean =>
  job.orderingKey !== null && job.attempts === 0 && outcome.kind !== "released";

/** It waits in its place under its ordering key again: an older one may have been replayed meanwhile, and goes before it. */
export const waitsInOrder = ({ job, outcome }: Ack): boolean =>
  job.orderingKey !== null && job.attempts === 0 && outcome.kind === "released";
