/**
 * Rows of jobs whose tickets are in a stream. A ticket says that a row may be worked on; whether it may, its row says, when it
 * is claimed. A row that has a ticket bears a mark in place of a lease's token, and is nobody's.
 */
import { type Coroutine, kept, type Query, refuseHiddenTables } from "../../db/index.js";
import { CLOCK } from "../../db/postgres/clock.js";
import type { Job } from "../jobs.js";
import { isJob, jobIn, type LeasedJobRow } from "../leased.js";
import { type Behind, BODY, FILTERED, UNHURRIED, UNLEASED } from "../postgres/jobs.js";

/** The token of a row whose ticket is in the stream. */
const MARK = "ticket";

/** A row that may have a ticket. */
export interface TicketRow {
  readonly id: number;
  readonly endpoint: string;
  /** Changes with the row: under one version it has one ticket. */
  readonly version: string;
}

interface PickedRow extends TicketRow {
  readonly head: number;
}

/** The row that goes first under the ordering key of `p`. */
const HEAD = `case when p.ordering_key is null or p.attempts > 0 then p.id else (
    select h.id from adbind_jobs h where h.topic = ? and h.ordering_key = p.ordering_key and h.state = 'ready'
      and h.attempts = 0 order by h.id limit 1) end`;

const PICK = kept(`select p.id, p.endpoint, p.version, ${HEAD} as head
  from ${UNHURRIED}, unnest(?::text[], ?::int[]) as r (endpoint, room) cross join lateral (
    select id, endpoint, ordering_key, attempts, xmin::text as version from adbind_jobs
    where topic = ? and endpoint = r.endpoint and state = 'ready' and due <= ?::bigint and ${UNLEASED}
      and (token is null or (due <= ?::bigint and lease_until <= ${CLOCK} - ?::bigint))
    order by due, id limit r.room for update skip locked
  ) p limit ?::int`);

export interface PickRequest {
  readonly now: number;
  /** Endpoints, and how many rows of each may be had. */
  readonly rooms: readonly (readonly [endpoint: string, room: number])[];
  readonly limit: number;
  /** How long a ticket that nobody has claimed is waited for, in milliseconds. */
  readonly resendMs: number;
}

/** Rows that are due, nobody's, and have no ticket; those behind another under their ordering key apart. Locks them. */
export function* pickRows(
  q: Query,
  topic: string,
  { now, rooms, limit, resendMs }: PickRequest,
): Coroutine<{ readonly found: readonly TicketRow[]; readonly behind: readonly Behind[] }> {
  const rows = yield* q.rows<PickedRow>(PICK, [
    ...[topic, rooms.map(([endpoint]) => endpoint), rooms.map(([, room]) => room), topic, now],
    ...[now - resendMs, resendMs, limit],
  ]);
  return {
    found: rows.filter(({ id, head }) => id === head),
    behind: rows.flatMap(({ id, head }): Behind[] => (id === head ? [] : [[id, head]])),
  };
}

const MARK_ROWS = kept(
  `update adbind_jobs set token = '${MARK}', lease_until = ${CLOCK} where id = any(?::bigint[]) and state = 'ready'`,
);

/** Marks rows whose tickets are in the stream: in the transaction that has locked them, or that acknowledges the attempt before. */
export const markRows = (q: Query, ids: readonly number[]): Coroutine<number> => q.run(MARK_ROWS, [ids]);

const UNMARK_ROWS = kept(`update adbind_jobs set token = null, lease_until = null where id = any(array(
  select id from adbind_jobs where id = any(?::bigint[]) and state = 'ready' and token is not null and lease_until <= ${CLOCK}
  for update skip locked))`);

/**
 * Takes away marks, and leases of those who were killed, which end as they are: a relay puts a ticket in when there is room. Of a row
 * that somebody holds it does so in its time.
 */
export const unmarkRows = (q: Query, ids: readonly number[]): Coroutine<number> => q.run(UNMARK_ROWS, [ids]);

const claiming = (waiting: string, lock: string): string => `with p as materialized (
    select j.id, j.endpoint, j.ordering_key, j.attempts, j.due, j.lease_until
    from ${UNHURRIED}${waiting}, unnest(?::bigint[]) as v (id) join adbind_jobs j on j.id = v.id
    where j.topic = ? and j.state = 'ready' order by j.id for update of j${lock}
  ), headed as materialized (
    select p.id, p.lease_until > ${CLOCK} as held, ${HEAD} as head, p.due <= ?::bigint and not exists (
      select from adbind_endpoints e where e.topic = ? and e.endpoint = p.endpoint
        and (e.stopped_at is not null or e.paused_until > ?::bigint)) as may
    from p
  ), leased as (
    update adbind_jobs j set token = ?, lease_until = ${CLOCK} + ?::bigint, started_at = ?::bigint,
      first_at = coalesce(j.first_at, ?::bigint)
    from headed h where j.id = h.id and h.held is not true and h.may and h.head = h.id
    returning j.id, j.key, j.endpoint, j.ordering_key, j.attempts, j.created_at, j.first_at, j.error, j.body_at
  ), returned as (
    update adbind_jobs j set token = null, lease_until = null
    from headed h where j.id = h.id and h.held is not true and not (h.may and h.head = h.id)
  )
  select h.id as asked, h.held is true as held, h.head, j.id, j.key, j.endpoint, j.ordering_key, j.attempts, j.created_at,
    j.first_at, j.error, b.meta, b.body, ${FILTERED}
  from headed h left join leased j on j.id = h.id ${BODY} order by h.id`;

const CLAIM = kept(claiming(", (select set_config('lock_timeout', ?, true)) patience", ""));
const CLAIM_FREE = claiming("", " skip locked");

export interface ClaimRequest {
  readonly ids: readonly number[];
  readonly now: number;
  readonly token: string;
  readonly leaseMs: number;
  /** The database, for messages. */
  readonly where: string;
}

export interface ClaimedJobs {
  readonly jobs: readonly Job[];
  /** Somebody has a lease on them: their tickets are needed where it ends unacknowledged. */
  readonly held: ReadonlySet<number>;
}

type ClaimedRow = { readonly asked: number; readonly held: boolean; readonly filtered: boolean } & {
  [K in keyof LeasedJobRow]: LeasedJobRow[K] | null;
};

/** A ticket whose row is hidden is for that not done: it comes again. */
function* unlessHidden(q: Query, rows: readonly ClaimedRow[], { ids, where }: ClaimRequest): Coroutine<void> {
  if (rows[0]?.filtered === true || rows.length < ids.length) yield* refuseHiddenTables(q, where);
}

/**
 * Leases rows by their numbers: what is due, nobody's, first under its ordering key, and of an endpoint that is not paused. The
 * mark of others is taken away: a relay finds them in their time.
 */
export function* claimRows(
  q: Query,
  topic: string,
  { lockMs, ...request }: ClaimRequest & { readonly lockMs: number },
): Coroutine<ClaimedJobs> {
  const rows = yield* q.rows<ClaimedRow>(CLAIM, [String(lockMs), ...claimValues(topic, request)]);
  yield* unlessHidden(q, rows, request);
  return claimedIn(rows, topic, request);
}

/** The same, without those that another transaction holds: they are told of as if somebody had a lease on them. */
export function* claimFreeRows(q: Query, topic: string, request: ClaimRequest): Coroutine<ClaimedJobs> {
  const rows = yield* q.rows<ClaimedRow>(CLAIM_FREE, claimValues(topic, request));
  yield* unlessHidden(q, rows, request);
  const { jobs, held } = claimedIn(rows, topic, request);
  const found = new Set(rows.map(({ asked }) => asked));
  const left = request.ids.filter((id) => !found.has(id));
  const there = yield* q.rows<{ id: number }>(
    "select id from adbind_jobs where id = any(?::bigint[]) and state = 'ready'",
    [left],
  );
  return { jobs, held: new Set([...held, ...there.map(({ id }) => id)]) };
}

const claimValues = (topic: string, { ids, now, token, leaseMs }: ClaimRequest) =>
  [ids, topic, topic, now, topic, now, token, leaseMs, now, now] as const;

function claimedIn(rows: readonly ClaimedRow[], topic: string, { now, token, leaseMs }: ClaimRequest): ClaimedJobs {
  const leased = { topic, state: "ready", due: now + leaseMs, startedAt: now, token } as const;
  return {
    jobs: rows.filter(isJob).map((row) => jobIn(row, leased)),
    held: new Set(rows.filter((row) => row.held).map(({ asked }) => asked)),
  };
}

/**
 * What this database is called among those that share a stream: its cluster, which a standby shares, its number in it, the
 * number of its table, and its name in a split. Servers that were made from one image have all numbers in common.
 */
export function* sourceName(q: Query): Coroutine<string> {
  const [row] = yield* q.rows<{ name: string }>(
    `select md5(concat_ws('.', (select system_identifier from pg_control_system()), d.oid, 'adbind_jobs'::regclass::oid,
      (select concat_ws('.', id, own) from adbind_splits where kind = 'principal'))) as name
      from pg_database d where d.datname = current_database()`,
  );
  return row!.name;
}
