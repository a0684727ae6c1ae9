/** Endpoints that fail, and jobs as an operator sees them: listed, counted, sent again, dropped. */
import type { Coroutine, Query } from "../../db/index.js";
import { checkIndexNames } from "../../db/names.js";
import { CLOCK } from "../../db/postgres/clock.js";
import { type JobRow, LISTED_BODY, type ListedRow, mayHoldOthers, toJobRecord, toListedJob } from "../job-rows.js";
import {
  BEHIND_DUE_MS,
  ENDPOINTS_SQL,
  type EndpointHealth,
  type EndpointNote,
  type EndpointRecord,
  type EndpointRecovery,
  type EndpointRow,
  filterSql,
  GIVE_UP_LIMIT_ROWS,
  type JobAdjustment,
  type JobCounts,
  type JobFilter,
  type JobRecord,
  type JobState,
  LIST_LIMIT_JOBS,
  type ListedJob,
  NOTED,
  noJobs,
  toEndpointRecord,
  UNATTEMPTED,
  UNWELL_SQL,
} from "../jobs.js";
import { boundsOf, type OrderingKeys } from "../ordering-keys.js";
import { BODY, BY_NOW, letGoAfter, letNextGo, orderReplayed, UNLEASED } from "./jobs.js";

/** Has a statement wait a moment for a row that somebody holds: what is learnt of an endpoint is learnt again. */
const IMPATIENT = "(select set_config('lock_timeout', '100', true)) impatient";

export function* pauseEndpoint(
  q: Query,
  topic: string,
  endpoint: string,
  { pausedUntil, failingSince, began }: EndpointNote,
): Coroutine<EndpointHealth> {
  // In one statement: an operator, or another instance, may end what is noted at the same time.
  const [row] = yield* q.rows<HealthRow>(
    `insert into adbind_endpoints as e (topic, endpoint, paused_until, failing_since)
      select ?, ?, ?::bigint, ?::bigint from ${IMPATIENT}
    on conflict (topic, endpoint) do update set paused_until = greatest(e.paused_until, excluded.paused_until),
      failing_since = case when coalesce(e.failing_since, excluded.failing_since) is not null
        then greatest(least(e.failing_since, excluded.failing_since), e.resumed_at) end
      where coalesce(e.resumed_at, 0) <= ?::bigint
    returning paused_until, failing_since`,
    [topic, endpoint, pausedUntil, failingSince, began],
  );
  return row === undefined ? yield* endpointHealth(q, topic, endpoint) : toHealth(row);
}

export function* recoverEndpoint(
  q: Query,
  topic: string,
  endpoint: string,
  { until, now }: EndpointRecovery,
): Coroutine<void> {
  const over =
    `delete from adbind_endpoints using ${IMPATIENT} where topic = ? and endpoint = ? and stopped_at is null ` +
    "and least(paused_until, ?::bigint) <= ?::bigint and resumed_at is null";
  if ((yield* q.run(over, [topic, endpoint, until, now])) > 0) return;
  const text =
    `update adbind_endpoints set paused_until = least(paused_until, ?::bigint), failing_since = null from ${IMPATIENT} ` +
    "where topic = ? and endpoint = ?";
  yield* q.run(text, [until, topic, endpoint]);
}

export function* unwellEndpoints(q: Query, topic: string, now: number, limit: number): Coroutine<string[]> {
  const rows = yield* q.rows<{ endpoint: string }>(UNWELL_SQL, [topic, now, limit]);
  return rows.map(({ endpoint }) => endpoint);
}

interface HealthRow {
  readonly paused_until: number;
  readonly failing_since: number | null;
}

const toHealth = (row: HealthRow | undefined): EndpointHealth => ({
  pausedUntil: row?.paused_until ?? 0,
  failingSince: row?.failing_since ?? null,
});

export function* endpointHealth(q: Query, topic: string, endpoint: string): Coroutine<EndpointHealth> {
  const [row] = yield* q.rows<HealthRow>(
    "select paused_until, failing_since from adbind_endpoints where topic = ? and endpoint = ?",
    [topic, endpoint],
  );
  return toHealth(row);
}

export function* stopEndpoint(q: Query, topic: string, endpoint: string, now: number): Coroutine<void> {
  checkIndexNames({ topic, endpoint });
  yield* q.run(
    `insert into adbind_endpoints (topic, endpoint, stopped_at) values (?, ?, ?::bigint)
    on conflict (topic, endpoint) do update set stopped_at = excluded.stopped_at`,
    [topic, endpoint, now],
  );
}

export function* stoppedEndpoints(q: Query, topic: string, endpoints: readonly string[]): Coroutine<string[]> {
  const text =
    "select endpoint from adbind_endpoints where topic = ? and endpoint = any(?::text[]) and stopped_at is not null";
  return (yield* q.rows<{ endpoint: string }>(text, [topic, endpoints])).map(({ endpoint }) => endpoint);
}

export const resumeEndpoint = (q: Query, topic: string, endpoint: string, now: number): Coroutine<number> =>
  q.run(
    `update adbind_endpoints set stopped_at = null, paused_until = 0, failing_since = null, resumed_at = ${BY_NOW} ` +
      `where topic = ? and endpoint = ? and ${NOTED}`,
    [now, topic, endpoint],
  );

export function* listEndpoints(q: Query, topic: string, after: string, limit: number): Coroutine<EndpointRecord[]> {
  const page = [topic, after, limit];
  return (yield* q.rows<EndpointRow>(ENDPOINTS_SQL, [...page, ...page, topic, topic, after, limit])).map(
    toEndpointRecord,
  );
}

/** The oldest of what was never attempted, where an endpoint has more than it may. */
export function* expireBeyond(
  q: Query,
  topic: string,
  given: Omit<GivenUp, "before"> & { readonly keep: number },
): Coroutine<number> {
  // Of two instances that count at a time each would end as many, and not the same.
  yield* q.lock(`expire ${topic} ${given.endpoint}`);
  const [row] = yield* q.rows<{ excess: number }>(
    `select count(*) as excess from (select 1 from adbind_jobs where topic = ? and endpoint = ? and state = 'ready'
      offset ?::int limit ${GIVE_UP_LIMIT_ROWS}) as beyond`,
    [topic, given.endpoint, given.keep],
  );
  if (row!.excess === 0) return 0;
  const ended = { state: "expired", which: `${UNATTEMPTED} and created_at`, limit: row!.excess } as const;
  return yield* endJobs(q, topic, { ...given, before: Number.MAX_SAFE_INTEGER }, ended);
}

export interface GivenUp {
  readonly endpoint: string;
  readonly before: number;
  readonly error: string;
  readonly now: number;
}

/** What was attempted, and first so before a time. */
export const deadLetterJobs = (q: Query, topic: string, given: GivenUp): Coroutine<number> =>
  endJobs(q, topic, given, { state: "dead", which: "attempts > 0 and first_at" });

/** What was never attempted, or not since it was replayed. */
export const expireJobs = (q: Query, topic: string, given: GivenUp): Coroutine<number> =>
  endJobs(q, topic, given, { state: "expired", which: `${UNATTEMPTED} and created_at` });

interface Ending {
  readonly state: JobState;
  readonly which: string;
  readonly limit?: number;
}

function* endJobs(
  q: Query,
  topic: string,
  { endpoint, before, error, now }: GivenUp,
  { state, which, limit = GIVE_UP_LIMIT_ROWS }: Ending,
): Coroutine<number> {
  const rows = yield* q.rows<Pick<JobRow, "ordering_key" | "attempts">>(
    `update adbind_jobs set state = ?, due = ?::bigint, error = ?::text || coalesce('; at last: ' || error, ''), token = null, lease_until = null, started_at = null
    where id = any(array(
      select id from adbind_jobs where topic = ? and endpoint = ? and state = 'ready' and ${which} <= ?::bigint
        and ${UNLEASED} order by due, id limit ${limit} for update skip locked
    )) returning ordering_key, attempts`,
    [state, now, error, topic, endpoint, before],
  );
  const keys = rows.filter((row) => row.ordering_key !== null && row.attempts === 0).map((row) => row.ordering_key!);
  yield* letNextGo(q, topic, keys, now);
  return rows.length;
}

export function* pullJobs(q: Query, topic: string, horizon: number, now: number): Coroutine<number> {
  const changed = yield* q.run(
    `update adbind_jobs set due = ?::bigint where id = any(array(select id from adbind_jobs
      where topic = ? and state = 'ready' and due > ?::bigint and due < ${BEHIND_DUE_MS} for update skip locked))`,
    [now, topic, horizon],
  );
  yield* q.run("update adbind_endpoints set paused_until = ?::bigint where topic = ? and paused_until > ?::bigint", [
    now,
    topic,
    horizon,
  ]);
  const resumed = "update adbind_endpoints set resumed_at = ?::bigint where topic = ? and resumed_at > ?::bigint";
  yield* q.run(resumed, [now, topic, now]);
  return changed;
}

export function* listJobs(q: Query, filter: JobFilter): Coroutine<ListedJob[]> {
  const { where, values } = filterSql(filter);
  const rows = yield* q.rows<ListedRow>(
    `select j.*, ${LISTED_BODY} from adbind_jobs j ${BODY} where ${where} order by id limit ?::int`,
    [...values, Math.min(filter.limit ?? LIST_LIMIT_JOBS, LIST_LIMIT_JOBS)],
  );
  return rows.map(toListedJob);
}

/**
 * What is being acknowledged is waited for: it would stay where it was. What is leased is locked last: no lease is kept from being
 * renewed while a row is waited for that an application holds.
 */
const rehome = (
  q: Query,
  topic: string,
  { from, to, ids }: Extract<JobAdjustment, { readonly kind: "rehome" }>,
): Coroutine<number> =>
  q.run(
    `update adbind_jobs set endpoint = ? where id = any(array(
      select id from adbind_jobs where topic = ? and endpoint = ? and id = any(?::bigint[]) order by token is not null, id for update
    ))`,
    [to, topic, from, ids],
  );

/**
 * Nothing is waited for: what is being acknowledged in this moment stays, and moves before its next attempt. Leases are renewed here:
 * nobody else can for as long as the application's transaction stays open, and as it ends an attempt may be under way still.
 * @param leaseMs how long a lease lasts, in milliseconds
 */
export const redirectJobs = (
  q: Query,
  topic: string,
  { keys, endpoint, leaseMs }: { readonly keys: OrderingKeys; readonly endpoint: string; readonly leaseMs: number },
): Coroutine<number> => {
  const among = (
    attempts: string,
  ): string => `array(select id from adbind_jobs where topic = ? and ordering_key >= ? and ordering_key <= ?
    and state = 'ready' and attempts ${attempts} and endpoint <> ? for update skip locked)`;
  const given = [topic, ...boundsOf(keys), endpoint];
  return q.run(
    `update adbind_jobs set endpoint = ?, lease_until = case when ${UNLEASED} then lease_until else ${CLOCK} + ?::bigint end
      where id = any(${among("= 0")} || ${among("> 0")})`,
    [endpoint, leaseMs, ...given, ...given],
  );
};

export function* adjustJobs(q: Query, topic: string, what: JobAdjustment, now: number): Coroutine<number> {
  switch (what.kind) {
    case "hasten":
      return yield* q.run(
        `update adbind_jobs set due = ${BY_NOW}, token = null, lease_until = null, started_at = null
        where id = ?::bigint and state = 'ready' and due > ${BY_NOW} and due < ${BEHIND_DUE_MS} and ${UNLEASED}`,
        [now, what.id, now],
      );
    case "rehome":
      return yield* rehome(q, topic, what);
  }
}

export function* getJob(q: Query, id: number): Coroutine<JobRecord | undefined> {
  const [row] = yield* q.rows<JobRow>(`select j.*, b.meta, b.body from adbind_jobs j ${BODY} where id = ?::bigint`, [
    id,
  ]);
  return row && toJobRecord(row);
}

export function* replayJob(q: Query, id: number, now: number): Coroutine<boolean> {
  const [row] = yield* q.rows<Pick<JobRow, "topic" | "ordering_key" | "attempts">>(
    `update adbind_jobs set state = 'ready', first_at = null, created_at = ?::bigint, error = null,
      due = case when ordering_key is null or attempts > 0 then ${BY_NOW} else ${BEHIND_DUE_MS} end
    where id = ?::bigint and state <> 'ready' returning topic, ordering_key, attempts`,
    [now, now, id],
  );
  if (row?.ordering_key != null && row.attempts === 0)
    yield* orderReplayed(q, row.topic, { id, key: row.ordering_key }, now);
  return row !== undefined;
}

export function* dropJob(q: Query, id: number, meant: JobFilter, now: number): Coroutine<boolean> {
  const { where, values } = filterSql(meant);
  const [row] = yield* q.rows<Pick<JobRow, "ordering_key" | "attempts" | "state" | "due">>(
    `with gone as (delete from adbind_jobs where id = ?::bigint and ${where}
        returning id, body_at, ordering_key, attempts, state, due),
      bodies as (delete from adbind_job_bodies b using gone where b.at = gone.body_at and b.job = gone.id)
    select * from gone`,
    [id, ...values],
  );
  if (row !== undefined && mayHoldOthers(row)) yield* letGoAfter(q, meant.topic, { id, key: row.ordering_key! }, now);
  return row !== undefined;
}

export function* countJobs(q: Query, topic: string): Coroutine<JobCounts> {
  const rows = yield* q.rows<{ state: JobState; n: number }>(
    "select state, count(*) as n from adbind_jobs where topic = ? group by state",
    [topic],
  );
  return { ...noJobs, ...Object.fromEntries(rows.map((row) => [row.state, row.n])) };
}
