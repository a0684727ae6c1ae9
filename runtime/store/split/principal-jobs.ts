/** Events of a principal that wait for their receivers, or are kept: copied while nobody adds to them and nobody has them out. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Database, Query, Value } from "../../db/types.js";
import { ownerDigest } from "../keys.js";
import { BLOCKED_DUE_MS } from "../rows.js";
import { type Copying, putRows, type RowChange } from "./copy.js";
import type { StaysBehind } from "./tables.js";

/** Jobs of senders, among those of others. */
const TOPIC = "webhooks";
/** On which workers on PostgreSQL are told that there is something to do. */
const CHANNEL = "adbind_jobs";
/** Bodies copied at once. */
const PAGE_ROWS = 40;

const JOBS = "adbind_jobs";
const BODIES = "adbind_job_bodies";
const ENDPOINTS = "adbind_endpoints";
const columns = [
  ...["topic", "key", "random", "endpoint", "ordering_key", "state", "due", "attempts", "created_at", "first_at"],
  ...["error", "body_at"],
];
const health = ["topic", "endpoint", "paused_until", "failing_since", "stopped_at"];

const marks = (values: readonly unknown[]): string => values.map(() => "?").join(", ");
const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** An endpoint is entered once in the index, however many jobs it has. @param state condition of a partial index */
const endpointsWhere = (state: string): string =>
  `with recursive found (endpoint) as (
    select min(endpoint) from ${JOBS} where topic = ? and ${state}
    union all
    select (select min(j.endpoint) from ${JOBS} j where j.topic = ? and j.${state} and j.endpoint > found.endpoint)
    from found where found.endpoint is not null
  ) select endpoint from found where endpoint is not null`;

const READY = "state = 'ready'";
const KEPT = "state <> 'ready'";

/**
 * Changes that applications stored by `adbind_enqueue` stay where they were stored: that function asks nobody whether the principal
 * moves, and whoever looks at them makes their events where the task is.
 */
const CHANGES = "changes ";

/** Names of the endpoints that move with a principal. */
function* endpointsOf(q: Query, principal: string): Coroutine<string[]> {
  const rows = [
    ...(yield* q.rows<{ endpoint: string }>(endpointsWhere(READY), [TOPIC, TOPIC])),
    ...(yield* q.rows<{ endpoint: string }>(endpointsWhere(KEPT), [TOPIC, TOPIC])),
    ...(yield* q.rows<{ endpoint: string }>(`select endpoint from ${ENDPOINTS} where topic = ?`, [TOPIC])),
  ];
  const own = ` ${ownerDigest(principal)}.`;
  const isOwn = (endpoint: string): boolean => endpoint.includes(own) && !endpoint.startsWith(CHANGES);
  return unique(rows.map(({ endpoint }) => endpoint).filter(isOwn));
}

function* jobIds(q: Query, principal: string): Coroutine<number[]> {
  const ids: number[] = [];
  for (const endpoint of yield* endpointsOf(q, principal)) {
    for (const state of [READY, KEPT]) {
      const text = `select id from ${JOBS} where topic = ? and endpoint = ? and ${state}`;
      ids.push(...(yield* q.rows<{ id: number }>(text, [TOPIC, endpoint])).map(({ id }) => id));
    }
  }
  // In their order: events of one task go by their numbers, here as there.
  return ids.sort((a, b) => a - b);
}

/** Jobs that somebody has out. On PostgreSQL leases go by the database's clock. */
export function* leasedJobs(q: Query, principal: string, now: number): Coroutine<number> {
  const live = q.dialect.turns
    ? `due > ${now}`
    : "lease_until > (extract(epoch from clock_timestamp()) * 1000)::bigint";
  const text = `select count(*) as n from ${JOBS} where topic = ? and endpoint = ? and ${READY} and token is not null and ${live}`;
  let leased = 0;
  for (const endpoint of yield* endpointsOf(q, principal)) {
    const [row] = yield* q.rows<{ n: number }>(text, [TOPIC, endpoint]);
    leased += row!.n;
  }
  return leased;
}

/** Changes that stay with a database, by whether a sender has still to look at them. */
export function* countChanges(q: Query): Coroutine<StaysBehind> {
  const count = (state: string): string =>
    `(select count(*) from ${JOBS} where topic = ? and (endpoint = ? or endpoint like ?) and ${state})`;
  const values = [TOPIC, CHANGES.trimEnd(), `${CHANGES}%`];
  // In one statement: one that is replayed between two would be in neither.
  const text = `select ${count(READY)} as waiting, ${count(KEPT)} as kept`;
  const [row] = yield* q.rows<StaysBehind>(text, [...values, ...values]);
  return { waiting: row!.waiting, kept: row!.kept };
}

export function* countEvents(q: Query, principal: string): Coroutine<number> {
  return (yield* jobIds(q, principal)).length;
}

type Row = Readonly<Record<string, Value>>;

/** Copies all of them anew. @param until nobody is to lease one before, unix milliseconds */
export async function copyJobs({ from, to, change, goOn }: Copying, principal: string, until: number): Promise<number> {
  await removeJobs(to, change, principal);
  const ids = await from.query((q) => jobIds(q, principal));
  const text = `select ${columns.map((one) => `j.${one}`).join(", ")}, b.meta, b.body from ${JOBS} j
    join ${BODIES} b on b.job = j.id and b.at = j.body_at where j.id in `;
  for (let at = 0; at < ids.length; at += PAGE_ROWS) {
    goOn();
    const page = ids.slice(at, at + PAGE_ROWS);
    const rows = await from.query((q) => q.rows<Row>(`${text} (${marks(page)}) order by j.id`, page));
    await change((q) => putJobs(q, rows, until));
  }
  await copyHealth({ from, change }, principal);
  return ids.length;
}

function* putJobs(q: Query, rows: readonly Row[], until: number): Coroutine<void> {
  if (rows.length === 0) return;
  const values = rows.flatMap((row) =>
    columns.map((column): Value => {
      if (column !== "due" || row.state !== "ready" || row.due === BLOCKED_DUE_MS) return row[column]!;
      return Math.max(row.due as number, until);
    }),
  );
  const each = rows.map(() => `(${marks(columns)})`).join(", ");
  const added = yield* q.rows<{ id: number }>(
    `insert into ${JOBS} (${columns.join(", ")}) values ${each} returning id`,
    values,
  );
  // Numbers are given in the order of the rows, in whichever they are answered.
  const ids = added.map(({ id }) => id).sort((a, b) => a - b);
  const bodies = rows.map((row, at) => [row.body_at!, ids[at]!, row.meta!, row.body!]);
  yield* putRows(q, { table: BODIES, columns: ["at", "job", "meta", "body"] }, bodies);
  if (!q.dialect.turns) return;
  // On SQLite an endpoint's row says when to look at it.
  for (const endpoint of unique(rows.map((row) => row.endpoint!))) yield* look(q, endpoint);
}

const look = (q: Query, endpoint: Value): Coroutine<number> =>
  q.run(
    `insert into ${ENDPOINTS} (topic, endpoint, ready_at) values (?, ?, 0) on conflict do update set ` +
      "ready_at = case when stopped_at is null then paused_until else ready_at end",
    [TOPIC, endpoint],
  );

/** How its endpoints are: those that fail, or are paused, do so there too. */
async function copyHealth({ from, change }: Pick<Copying, "from" | "change">, principal: string): Promise<void> {
  const endpoints = await from.query((q) => endpointsOf(q, principal));
  const text = `select ${health.join(", ")} from ${ENDPOINTS} where topic = ? and endpoint = ?`;
  for (const endpoint of endpoints) {
    const [row] = await from.query((q) => q.rows<Row>(text, [TOPIC, endpoint]));
    if (row === undefined) continue;
    await change(function* (q) {
      const whole = q.dialect.turns
        ? { ...row, ready_at: row.stopped_at === null ? row.paused_until! : BLOCKED_DUE_MS }
        : row;
      const named = Object.keys(whole);
      const values = Object.values(whole) as Value[];
      yield* putRows(q, { table: ENDPOINTS, columns: named, unique: ["topic", "endpoint"] }, [values]);
    });
  }
}

/** What waited for the end of the fence is due now. */
export function* hastenJobs(q: Query, principal: string, until: number): Coroutine<void> {
  for (const endpoint of yield* endpointsOf(q, principal)) {
    const text = `update ${JOBS} set due = 0 where topic = ? and endpoint = ? and ${READY} and due = ? and token is null`;
    const hastened = yield* q.run(text, [TOPIC, endpoint, until]);
    if (hastened > 0 && q.dialect.turns) yield* look(q, endpoint);
  }
  yield* q.notify(CHANNEL, TOPIC);
}

export async function removeJobs(database: Database, change: RowChange, principal: string): Promise<void> {
  const ids = await database.query((q) => jobIds(q, principal));
  for (let at = 0; at < ids.length; at += PAGE_ROWS) {
    const page = ids.slice(at, at + PAGE_ROWS);
    await change(function* (q) {
      yield* q.run(`delete from ${BODIES} where job in (${marks(page)})`, page);
      yield* q.run(`delete from ${JOBS} where id in (${marks(page)})`, page);
    });
  }
  const endpoints = await database.query((q) => endpointsOf(q, principal));
  if (endpoints.length === 0) return;
  await change(function* (q) {
    for (const endpoint of endpoints)
      yield* q.run(`delete from ${ENDPOINTS} where topic = ? and endpoint = ?`, [TOPIC, endpoint]);
  });
}
