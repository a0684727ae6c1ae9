/**
 * Jobs on PostgreSQL: rows leased with `skip locked`. Adding is an insert and nothing else, so that a transaction of the
 * application, however long it stays open, holds nothing that others need. Leases are judged by the database's clock,
 * which all instances share; when a job is due, by the instances'.
 */
import { isAscii } from "node:buffer";
import { type Coroutine, type JobAddition, kept, type Query } from "../../db/index.js";
import { type Ack, BEHIND_DUE_MS, type Job, type JobRow, letsNextGo, movedTo, type NewJob } from "../jobs.js";

/** The database's clock, in unix milliseconds. */
export const CLOCK = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
/** Condition on a job that nobody holds. */
export const UNLEASED = `(lease_until is null or lease_until <= ${CLOCK})`;

/** Between bodies; JSON has none. */
const BETWEEN = "\u001e";
const NOT_PLAIN = [0, BETWEEN.charCodeAt(0)];

/** Can stand in a text of any encoding of a database, and is no empty one. */
const isPlain = (body: Buffer): boolean =>
  body.length > 0 && isAscii(body) && NOT_PLAIN.every((byte) => !body.includes(byte));

/** What `adbind_add_jobs` is given: texts, whatever the number of jobs, which mean the same to every library that may carry them. */
export function additionOf(jobs: readonly NewJob[], topic: string, now: number): JobAddition {
  const bodies: string[] = [];
  const rows = jobs.map(({ key, random = false, endpoint, orderingKey = null, due = now, meta, body }) => {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const plain = isPlain(bytes);
    bodies.push(bytes.toString(plain ? "latin1" : "base64"));
    return { key, random, endpoint, ordering_key: orderingKey, due, meta, plain };
  });
  return { topic, at: now, jobs: JSON.stringify(rows), bodies: bodies.join(BETWEEN) };
}

const ADD = kept("select adbind_add_jobs(?::text, ?::text::bigint, ?::text::json, ?::text)");

export const addJobs = (q: Query, { topic, at, jobs, bodies }: JobAddition): Coroutine<unknown> =>
  q.rows(ADD, [topic, String(at), jobs, bodies]);

/** What is sent of a job in `j`: by its key, in the one partition that has it, whatever the planner believes of sizes. */
export const BODY = `left join lateral (
  select meta, body from adbind_job_bodies b where b.at = j.body_at and b.job = j.id offset 0) b on true`;

export interface DueEndpoint {
  readonly endpoint: string;
  /** When something of it may be leased. */
  readonly next: number;
}

const NEXT_ENDPOINTS = kept(`with recursive found (endpoint, n) as (
    (select endpoint, 1 from adbind_jobs where topic = ? and state = 'ready' and endpoint > ? order by endpoint limit 1)
    union all
    select (select j.endpoint from adbind_jobs j
      where j.topic = ? and j.state = 'ready' and j.endpoint > found.endpoint order by j.endpoint limit 1), n + 1
    from found where found.endpoint is not null and n < ?::int
  )
  select f.endpoint, greatest(
      coalesce((select j.due from adbind_jobs j where j.topic = ? and j.endpoint = f.endpoint and j.state = 'ready'
        order by j.due limit 1), ${BEHIND_DUE_MS}),
      (select case when e.stopped_at is null then e.paused_until else ${BEHIND_DUE_MS} end
        from adbind_endpoints e where e.topic = ? and e.endpoint = f.endpoint)) as next
  from found f where f.endpoint is not null order by f.endpoint`);

/**
 * The next endpoints that have jobs at all, in their order, and when something of them may be leased. The index is
 * entered once for each endpoint, however many jobs it has.
 * @param after endpoints after this one
 */
export const nextEndpoints = (
  q: Query,
  topic: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Coroutine<DueEndpoint[]> => q.rows<DueEndpoint>(NEXT_ENDPOINTS, [topic, after, topic, limit, topic, topic]);

export interface LeaseRequest {
  readonly now: number;
  readonly token: string;
  readonly leaseMs: number;
  /** Endpoints, and how many jobs of each may be leased. */
  readonly rooms: readonly (readonly [endpoint: string, room: number])[];
  /** Most jobs of all of them. */
  readonly limit: number;
}

/** A job that may not go yet, and the one under its ordering key that goes first. */
export type Behind = readonly [id: number, head: number];

/** What is not the same for all that are leased in one go. */
type LeasedColumns = Omit<JobRow, "topic" | "state" | "due" | "started_at" | "token" | "id">;

interface LeasedRow extends LeasedColumns {
  readonly id: number | null;
  readonly behind: readonly Behind[] | null;
}

/**
 * Has the statement's own commit not wait for the disk. A lease that a crash of the server undoes has only to be taken
 * again, and its token is then nobody's: what was under way is sent twice, as after a crash of ours.
 */
export const UNHURRIED = "(select set_config('synchronous_commit', 'off', true)) unhurried";

const LEASE = kept(`with picked as materialized (
    select j.id, j.ordering_key, j.attempts from ${UNHURRIED}, unnest(?::text[], ?::int[]) as r (endpoint, room) cross join lateral (
      select id, ordering_key, attempts from adbind_jobs
      where topic = ? and endpoint = r.endpoint and state = 'ready' and due <= ?::bigint and ${UNLEASED}
      order by due, id limit r.room for update skip locked
    ) j limit ?::int
  ), headed as materialized (
    select p.id, case when p.ordering_key is null or p.attempts > 0 then p.id else (
      select h.id from adbind_jobs h where h.topic = ? and h.ordering_key = p.ordering_key and h.state = 'ready'
        and h.attempts = 0 order by h.id limit 1) end as head
    from picked p
  ), leased as (
    update adbind_jobs j set token = ?, due = ?::bigint, lease_until = ${CLOCK} + ?::bigint, started_at = ?::bigint,
      first_at = coalesce(j.first_at, ?::bigint)
    from headed h where j.id = h.id and h.head = h.id
    returning j.id, j.key, j.endpoint, j.ordering_key, j.attempts, j.created_at, j.first_at, j.error, j.body_at
  )
  select j.id, j.key, j.endpoint, j.ordering_key, j.attempts, j.created_at, j.first_at, j.error, b.meta, b.body, w.behind
  from (select json_agg(json_build_array(id, head)) as behind from headed where head <> id) w left join leased j on true ${BODY} order by j.id`);

export type LeasedJobRow = LeasedColumns & { readonly id: number };
const isJob = (row: LeasedRow): row is LeasedRow & LeasedJobRow => row.id !== null;

export const jobIn = (
  row: LeasedJobRow,
  leased: Pick<Job, "topic" | "state" | "due" | "startedAt" | "token">,
): Job => ({
  ...leased,
  id: row.id,
  key: row.key,
  endpoint: row.endpoint,
  orderingKey: row.ordering_key,
  attempts: row.attempts,
  createdAt: row.created_at,
  firstAt: row.first_at ?? leased.startedAt,
  error: row.error,
  meta: row.meta ?? "",
  body: row.body ?? new Uint8Array(),
});

/** Leases due jobs of endpoints. @returns them, and those that have to wait for another under their ordering key */
export function* leaseJobs(
  q: Query,
  topic: string,
  { now, token, leaseMs, rooms, limit }: LeaseRequest,
): Coroutine<{ readonly jobs: Job[]; readonly behind: readonly Behind[] }> {
  const rows = yield* q.rows<LeasedRow>(LEASE, [
    rooms.map(([endpoint]) => endpoint),
    rooms.map(([, room]) => room),
    topic,
    now,
    limit,
    topic,
    token,
    now + leaseMs,
    leaseMs,
    now,
    now,
  ]);
  const leased = { topic, state: "ready", due: now + leaseMs, startedAt: now, token } as const;
  const jobs = rows.filter(isJob).map((row) => jobIn(row, leased));
  return { jobs, behind: rows[0]?.behind ?? [] };
}

/**
 * Has jobs wait until those before them have been attempted. The one before is locked against being acknowledged, so that
 * whoever does that sees what waits; where it is being acknowledged now, nothing is written, and we look again. Nothing
 * here waits for a lock.
 * @returns how many wait now
 */
export const postponeJobs = (q: Query, behind: readonly Behind[]): Coroutine<number> =>
  q.run(
    `with held as materialized (
      select id from adbind_jobs where id = any(?::bigint[]) and state = 'ready' and attempts = 0
      for share skip locked
    ), mine as materialized (
      select j.id from unnest(?::bigint[], ?::bigint[]) as b (id, head) join held on held.id = b.head
      join adbind_jobs j on j.id = b.id where j.state = 'ready' and j.attempts = 0 and ${UNLEASED}
      for update of j skip locked
    )
    update adbind_jobs set due = ${BEHIND_DUE_MS}, token = null, lease_until = null where id in (select id from mine)`,
    [[...new Set(behind.map(([, head]) => head))], behind.map(([id]) => id), behind.map(([, head]) => head)],
  );

const ACK = kept(`with v as (
    select * from unnest(?::bigint[], ?::text[], ?::text[], ?::bigint[], ?::text[], ?::text[])
      as v (id, token, kind, due, error, endpoint)
  ), gone as (
    delete from adbind_jobs j using v where v.kind = 'done' and j.id = v.id and j.token = v.token returning j.id
  ), kept as (
    update adbind_jobs j set token = null, lease_until = null, started_at = null,
      state = case v.kind when 'dead' then 'dead' when 'refused' then 'refused' else 'ready' end,
      attempts = j.attempts + case when v.kind in ('later', 'dead') then 1 else 0 end,
      first_at = case when v.kind in ('released', 'refused') and j.attempts = 0 then null else j.first_at end,
      due = coalesce(v.due, j.due), error = coalesce(v.error, j.error), endpoint = coalesce(v.endpoint, j.endpoint)
    from v where v.kind <> 'done' and j.id = v.id and j.token = v.token returning j.id
  )
  select id from gone union all select id from kept`);

/** Writes what became of leased jobs, where the token is still the job's. @returns ids of those */
export function* ackJobs(q: Query, topic: string, acks: readonly Ack[], now: number): Coroutine<Set<number>> {
  const rows = yield* q.rows<{ id: number }>(ACK, [
    acks.map(({ job }) => job.id),
    acks.map(({ job }) => job.token),
    acks.map(({ outcome }) => outcome.kind),
    acks.map(({ outcome }) => ("due" in outcome ? outcome.due : null)),
    acks.map(({ outcome }) => ("error" in outcome ? outcome.error : null)),
    acks.map(movedTo),
  ]);
  const held = new Set(rows.map(({ id }) => id));
  const keys = acks.filter((ack) => held.has(ack.job.id) && letsNextGo(ack)).map(({ job }) => job.orderingKey!);
  yield* letNextGo(q, topic, keys, now);
  for (const ack of acks) if (held.has(ack.job.id) && movedTo(ack) !== null) yield* moveRest(q, topic, ack);
  return held;
}

/** What waits under the ordering key of a job that moved is not left to the endpoint it has gone from. */
const moveRest = (q: Query, topic: string, ack: Ack): Coroutine<number> =>
  q.run(
    `update adbind_jobs set endpoint = ? where id in (
      select id from adbind_jobs where topic = ? and ordering_key = ? and state = 'ready' and attempts = 0
      and endpoint = ? and ${UNLEASED} for update skip locked
    )`,
    [movedTo(ack), topic, ack.job.orderingKey, ack.job.endpoint],
  );

const LET_NEXT_GO = kept(`update adbind_jobs set due = ?::bigint where due = ${BEHIND_DUE_MS} and id = any(array(
    select h.id from unnest(?::text[]) as k (ordering_key) cross join lateral (
      select id from adbind_jobs where topic = ? and ordering_key = k.ordering_key and state = 'ready' and attempts = 0
      order by id limit 1
    ) h
  ))`);

/** Makes the next job under each ordering key due. A statement of its own: it has to see what those before it did. */
export function* letNextGo(q: Query, topic: string, keys: readonly string[], now: number): Coroutine<void> {
  if (keys.length === 0) return;
  yield* q.run(LET_NEXT_GO, [now, [...new Set(keys)], topic]);
}

const RENEW = kept(`with mine as materialized (
    select j.id from ${UNHURRIED}, unnest(?::bigint[], ?::text[]) as v (id, token)
    join adbind_jobs j on j.id = v.id and j.token = v.token for update of j skip locked
  )
  update adbind_jobs set due = ?::bigint, lease_until = ${CLOCK} + ?::bigint where id in (select id from mine)
  returning id`);

/** Prolongs leases; one that is being acknowledged is passed over. @returns ids of those that are still ours */
export function* renewJobs(
  q: Query,
  jobs: readonly Job[],
  { now, leaseMs }: { readonly now: number; readonly leaseMs: number },
): Coroutine<Set<number>> {
  const rows = yield* q.rows<{ id: number }>(RENEW, [
    jobs.map(({ id }) => id),
    jobs.map(({ token }) => token),
    now + leaseMs,
    leaseMs,
  ]);
  return new Set(rows.map(({ id }) => id));
}
