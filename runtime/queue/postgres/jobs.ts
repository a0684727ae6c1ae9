/**
 * Jobs on PostgreSQL: rows leased with `skip locked`. Adding is an insert and nothing else, so that a transaction of the
 * application, however long it stays open, holds nothing that others need. Leases are judged by the database's clock,
 * which all instances share; when a job is due, by the instances'.
 */
import { type Coroutine, type JobAddition, kept, type Query } from "../../db/index.js";
import { CLOCK } from "../../db/postgres/clock.js";
import { BEHIND_DUE_MS, checkJobNames, type Job, type NewJob } from "../jobs.js";
import { isJob, jobIn, type LeasedColumns, type LeasedTask, taskIn } from "../leased.js";

/** Unix milliseconds that are given, by a clock that may be ahead: what is due then at once would be in hours for others. */
export const BY_NOW = `least(?::bigint, ${CLOCK})`;
/** Condition on a job that nobody holds. */
export const UNLEASED = `(lease_until is null or lease_until <= ${CLOCK})`;

/** Between bodies; JSON has none. */
const BETWEEN = "\u001e";
const NOT_PLAIN = ["\0", BETWEEN];

/** Can stand in a text of any encoding of a database, and is no empty one. */
const isPlain = (body: string): boolean =>
  body !== "" && Buffer.byteLength(body) === body.length && NOT_PLAIN.every((one) => !body.includes(one));

/** What `adbind_add_jobs` is given: texts, whatever the number of jobs, which mean the same to every library that may carry them. */
export function additionOf(
  jobs: readonly NewJob[],
  topic: string,
  { now, notifies }: { readonly now: number; readonly notifies: boolean },
): JobAddition {
  checkJobNames(topic, jobs);
  const bodies: string[] = [];
  const rows = jobs.map(({ key, random = false, endpoint, orderingKey = null, due = now, meta, body }) => {
    const plain = typeof body === "string" && isPlain(body);
    bodies.push(plain ? body : Buffer.from(body as string).toString("base64"));
    return { key, random, endpoint, ordering_key: orderingKey, due, meta, plain };
  });
  return { topic, at: now, jobs: JSON.stringify(rows), bodies: bodies.join(BETWEEN), notifies };
}

const ADD = kept(
  "select adbind_add_jobs(?::text, ?::text::bigint, ?::text::json, ?::text, ?::text::boolean)::text as notified",
);

/** @returns whether workers are notified as the transaction commits */
export function* addJobs(q: Query, { topic, at, jobs, bodies, notifies }: JobAddition): Coroutine<boolean> {
  const [row] = yield* q.rows<{ notified: string }>(ADD, [topic, String(at), jobs, bodies, String(notifies)]);
  return row!.notified === "true";
}

/** What is sent of a job in `j`: by its key, in the one partition that has it, whatever the planner believes of sizes. */
export const BODY = `left join lateral (
  select meta, body from adbind_job_bodies b where b.at = j.body_at and b.job = j.id offset 0) b on true`;

export interface LeaseRequest {
  readonly now: number;
  readonly token: string;
  readonly leaseMs: number;
  /** Endpoints, and how many jobs of each may be leased. */
  readonly rooms: readonly (readonly [endpoint: string, room: number])[];
  /** Most jobs of all of them. */
  readonly limit: number;
  /** About how many bytes their bodies may have; any number by default. */
  readonly bytes?: number | undefined;
}

/** A job that may not go yet, and the one under its ordering key that goes first. */
export type Behind = readonly [id: number, head: number];

interface Leased {
  readonly jobs: Job[];
  readonly behind: readonly Behind[];
  readonly heavy: readonly number[];
  readonly filtered: boolean;
}

interface LeasedRow extends LeasedColumns, LeasedTask {
  readonly id: number | null;
  readonly behind: readonly Behind[] | null;
  readonly heavy: readonly number[] | null;
  readonly filtered: boolean;
}

/**
 * Has the statement's own commit not wait for the disk. A lease that a crash of the server undoes has only to be taken
 * again, and its token is then nobody's: what was under way is sent twice, as after a crash of ours.
 */
export const UNHURRIED = "(select set_config('synchronous_commit', 'off', true)) unhurried";

const WAKE = kept(`select pg_notify(?, ?) from ${UNHURRIED}`);

/**
 * Tells other instances that there are jobs: by itself only, never in a transaction that writes, which would not wait for the
 * disk either. What a crash of the server swallows is found by polling.
 */
export const wakeOthers = (q: Query, channel: string, payload: string): Coroutine<number> =>
  q.run(WAKE, [channel, payload]);

/**
 * Whether the server shows the role only some bodies and endpoints, or none: a job without its body would be set aside, and one whose
 * endpoint an operator has paused would go out. In a select of its own, which is made once for all rows.
 */
export const FILTERED =
  "(select row_security_active('adbind_job_bodies') or row_security_active('adbind_endpoints')) as filtered";

/** Bytes of the bodies before a job's: those that are too many are told of by their ids, and their bodies stay where they are. */
const LEASE = kept(
  `select *, ${FILTERED} from (
    select *, json_agg(id) filter (where not fits) over () as heavy from (
      select *, coalesce(sum(coalesce(octet_length(plain), octet_length(body))) over
        (rows between unbounded preceding and 1 preceding), 0) < ?::bigint as fits
      from adbind_lease_jobs(?::text, ?::text[], ?::int[], ?::int, ?::bigint, ?::text, ?::bigint)
    ) weighed
  ) leased where fits`,
);

/**
 * Leases due jobs of endpoints.
 * @returns them, those that have to wait for another under their ordering key, those that are leased too and to be given back, and
 *   whether what goes with them may be hidden
 */
export function* leaseJobs(
  q: Query,
  topic: string,
  { now, token, leaseMs, rooms, limit, bytes = Number.MAX_SAFE_INTEGER }: LeaseRequest,
): Coroutine<Leased> {
  const lookedAt = performance.now();
  const [endpoints, counts] = [rooms.map(([endpoint]) => endpoint), rooms.map(([, room]) => room)];
  const rows = yield* q.rows<LeasedRow>(LEASE, [bytes, topic, endpoints, counts, limit, now, token, leaseMs]);
  const leased = { topic, state: "ready", due: now + leaseMs, startedAt: now, token } as const;
  const jobs = rows.filter(isJob).map((row) => jobIn(row, leased, taskIn(row, lookedAt)));
  const [first] = rows;
  return { jobs, behind: first?.behind ?? [], heavy: first?.heavy ?? [], filtered: first?.filtered === true };
}

/** Ends leases as if there had been none. */
export function* giveBackJobs(
  q: Query,
  topic: string,
  { ids, token, now }: { readonly ids: readonly number[]; readonly token: string; readonly now: number },
): Coroutine<void> {
  const rows = yield* q.rows<{ ordering_key: string | null; attempts: number }>(
    `update adbind_jobs set token = null, lease_until = null, started_at = null,
      first_at = case when attempts = 0 or first_at = started_at then null else first_at end
    where id = any(?::bigint[]) and token = ? returning ordering_key, attempts`,
    [ids, token],
  );
  const keys = rows.filter(({ attempts }) => attempts === 0).flatMap(({ ordering_key: key }) => key ?? []);
  yield* letOlderGo(q, topic, keys, now);
}

/** One under the ordering key of `j`, of those that were never attempted, is under way. */
const UNDER_WAY = `exists (select from adbind_jobs u where u.topic = j.topic and u.ordering_key = j.ordering_key
  and u.state = 'ready' and u.attempts = 0 and u.lease_until > ${CLOCK})`;

/**
 * Has jobs wait until those before them have been attempted. The one before is locked against being acknowledged, so that
 * whoever does that sees what waits; where it is being acknowledged now, nothing is written, and we look again. Nothing
 * here waits for a lock. One that was replayed, and waited for what is not under way any more, goes now.
 * @param now unix milliseconds
 * @returns how many wait now
 */
export const postponeJobs = (q: Query, behind: readonly Behind[], now: number): Coroutine<number> =>
  q.run(
    `with heads as materialized (
      select j.id, j.due = ${BEHIND_DUE_MS} and not ${UNDER_WAY} as left_behind from adbind_jobs j
      where j.id = any(?::bigint[]) and j.state = 'ready' and j.attempts = 0
    ), held as materialized (
      select j.id from heads h join adbind_jobs j on j.id = h.id where not h.left_behind and j.state = 'ready'
        and j.attempts = 0 for share of j skip locked
    ), freed as (
      update adbind_jobs set due = ${BY_NOW} where id = any(array(
        select j.id from heads h join adbind_jobs j on j.id = h.id where h.left_behind and j.state = 'ready'
          and j.attempts = 0 and j.due = ${BEHIND_DUE_MS} for update of j skip locked)) returning id
    ), mine as materialized (
      select j.id from unnest(?::bigint[], ?::bigint[]) as b (id, head)
      join (select id from held union all select id from freed) f on f.id = b.head
      join adbind_jobs j on j.id = b.id where j.state = 'ready' and j.attempts = 0 and ${UNLEASED}
      for update of j skip locked
    )
    update adbind_jobs set due = ${BEHIND_DUE_MS}, token = null, lease_until = null, started_at = null
    where id in (select id from mine)`,
    [[...new Set(behind.map(([, head]) => head))], now, behind.map(([id]) => id), behind.map(([, head]) => head)],
  );

const LET_NEXT_GO = kept(`select adbind_let_next_go(?::text, array(
    select j.ordering_key from unnest(?::text[]) as k (ordering_key), lateral (select ?::text as topic, k.ordering_key) j
    where not ${UNDER_WAY}), ?::bigint)`);

/**
 * Makes the next job under each ordering key due, unless one is under way: it goes after that. A statement of its own: it has to
 * see what those before it did.
 */
export function* letNextGo(q: Query, topic: string, keys: readonly string[], now: number): Coroutine<void> {
  if (keys.length === 0) return;
  yield* q.rows(LET_NEXT_GO, [topic, [...new Set(keys)], topic, now]);
}

const LET_GO_AFTER = kept(`select adbind_let_next_go(?::text, array(
    select k.ordering_key from (select ?::text as topic, ?::text as ordering_key) k left join lateral (
      select h.id, h.due, h.topic, h.ordering_key from adbind_jobs h where h.topic = k.topic
        and h.ordering_key = k.ordering_key and h.state = 'ready' and h.attempts = 0 order by h.id limit 1) j on true
    where case when j.due = ${BEHIND_DUE_MS} and j.id < ?::bigint then not ${UNDER_WAY} else true end), ?::bigint)`);

/**
 * The same after one was taken away that did not wait for another. Where it was the first, nothing else was under way: the rest, of
 * which there may be a hundred thousand, is then not looked through.
 */
export function* letGoAfter(
  q: Query,
  topic: string,
  { id, key }: { readonly id: number; readonly key: string },
  now: number,
): Coroutine<void> {
  yield* q.rows(LET_GO_AFTER, [topic, topic, key, id, now]);
}

const LET_OLDER_GO = kept(`select adbind_let_next_go(?::text, array(
    select j.ordering_key from adbind_jobs j where j.id = any(array(
      select (select h.id from adbind_jobs h where h.topic = ?::text and h.ordering_key = k.ordering_key and h.state = 'ready'
        and h.attempts = 0 order by h.id limit 1) from unnest(?::text[]) as k (ordering_key)
    )) and j.due = ${BEHIND_DUE_MS} and not ${UNDER_WAY} for update of j skip locked), ?::bigint)`);

/**
 * The same after jobs were given back, which are mostly the first under their keys themselves: there is nothing to be done then. Waits
 * for no lock; one that somebody holds goes when what was given back has its turn.
 */
export function* letOlderGo(q: Query, topic: string, keys: readonly string[], now: number): Coroutine<void> {
  if (keys.length > 0) yield* q.rows(LET_OLDER_GO, [topic, topic, [...new Set(keys)], now]);
}

/**
 * Of those that were never attempted under an ordering key the first goes, unless one is under way: then it goes after that, which is
 * locked against being acknowledged, so that whoever does that sees what waits.
 */
function* orderAnew(q: Query, topic: string, key: string, now: number): Coroutine<void> {
  const waiting = "topic = ? and ordering_key = ? and state = 'ready' and attempts = 0";
  yield* q.run(
    `update adbind_jobs set due = ${BEHIND_DUE_MS}, token = null, lease_until = null, started_at = null
      where ${waiting} and due <> ${BEHIND_DUE_MS} and ${UNLEASED}
        and id > (select min(id) from adbind_jobs where ${waiting})`,
    [topic, key, topic, key],
  );
  yield* q.rows(`select id from adbind_jobs where ${waiting} and lease_until > ${CLOCK} for share`, [topic, key]);
  yield* letNextGo(q, topic, [key], now);
}

/**
 * Of a job that was replayed, and waits: where another goes first, that lets it go as it ends, and is locked against that until
 * it sees what waits. So the rest, of which there may be a hundred thousand, is looked through for the first of them only.
 */
export function* orderReplayed(
  q: Query,
  topic: string,
  { id, key }: { readonly id: number; readonly key: string },
  now: number,
): Coroutine<void> {
  const [head] = yield* q.rows<{ id: number; due: number }>(
    `select id, due from adbind_jobs where topic = ? and ordering_key = ? and state = 'ready' and attempts = 0
      order by id limit 1 for share`,
    [topic, key],
  );
  if (head === undefined || head.id === id || head.due === BEHIND_DUE_MS) yield* orderAnew(q, topic, key, now);
}

const RENEW = kept(`with mine as materialized (
    select j.id from ${UNHURRIED}, unnest(?::bigint[], ?::text[]) as v (id, token)
    join adbind_jobs j on j.id = v.id and j.token = v.token for update of j skip locked
  )
  update adbind_jobs set lease_until = ${CLOCK} + ?::bigint where id in (select id from mine)
  returning id`);

const RENEW_ONE = kept(
  `update adbind_jobs j set lease_until = ${CLOCK} + ?::bigint from ${UNHURRIED} where j.id = ? and j.token = ?`,
);

/** Prolongs a lease, and waits for whoever holds its row. */
export const renewJob = (q: Query, { id, token }: Job, leaseMs: number): Coroutine<number> =>
  q.run(RENEW_ONE, [leaseMs, id, token]);

/** Prolongs leases; one that is being acknowledged is passed over. @returns ids of those that are still ours */
export function* renewJobs(q: Query, jobs: readonly Job[], leaseMs: number): Coroutine<Set<number>> {
  const rows = yield* q.rows<{ id: number }>(RENEW, [
    jobs.map(({ id }) => id),
    jobs.map(({ token }) => token),
    leaseMs,
  ]);
  return new Set(rows.map(({ id }) => id));
}
