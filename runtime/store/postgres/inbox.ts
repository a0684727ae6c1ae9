/** Accepted events until their handler is done: lease, complete, give back, give up. */
import { type Sql, sql } from "../../db/postgres/sql.js";
import { unlessAborted } from "../../unless-aborted.js";
import { ClockWatch } from "../clock-watch.js";
import { type LeasedRow, LeaseWatch } from "../lease-watch.js";
import { BLOCKED_DUE_MS, type InboxRow, LIST_LIMIT_ROWS, toEvent, UNREGISTERED_ERROR } from "../rows.js";
import type { Backlog, Effect, Held, Inbox, InboxEvent, InboxFilter, Lease } from "../types.js";
import { type AcceptDependencies, acceptor } from "./accept.js";
import { gathering } from "./gathering.js";
import type { Guarded } from "./guarded.js";
import type { Db, Tx } from "./tables.js";
import { lockTask } from "./tasks.js";

interface Left {
  readonly sender: number;
  readonly ordering_key: string | null;
}

export function postgresInbox(db: Db, dependencies: AcceptDependencies): Inbox<Tx> {
  const { guard } = dependencies;
  const watches = { leases: new LeaseWatch(), clock: new ClockWatch() };
  const alone = aloneOn(db, guard);
  const ended = endedTogether(db, guard);
  return {
    accept: acceptor(db, dependencies),
    take: (request) => take(db, request, { ...watches, guard }),
    renew: (ids, lease) => renew(db, ids, lease),
    async releaseLease(ids, { owner, now }) {
      await sql`
        update adbind_inbox set owner = null, due = ${now}
        where id = any(${ids}::bigint[]) and owner = ${owner} and state = 'pending'`.run(db);
    },
    complete: (held, effect) =>
      effect === undefined && guard.none && !held.signal?.aborted ? ended(held) : complete(db, held, { guard, effect }),
    async retry({ id, owner }, due, error) {
      await alone(
        id,
        sql`
          update adbind_inbox set owner = null, due = ${due}, error = ${error}, attempts = attempts + 1
          where id = ${id} and owner = ${owner}`,
      );
    },
    deadLetter: (held, error) => deadLetter(db, held, { guard, error }),
    list: (filter) => list(db, filter ?? {}),
    async get(id) {
      const row = await sql<InboxRow>`${joined} where i.id = ${id}`.first(db);
      return row && toEvent(row);
    },
    async replay(id, now) {
      const change = sql<never>`
        update adbind_inbox set state = 'pending', attempts = 0, due = ${now}, error = null
        where id = ${id} and state <> 'pending'`;
      return (await alone(id, change)) === 1;
    },
    drop: (id, now) =>
      db.transaction(async (tx) => {
        await guard.event(tx, id);
        const left = await lockOrderingKey(tx, id);
        if (left === undefined) return false;
        await sql`delete from adbind_inbox where id = ${id}`.run(tx);
        await releaseOrderingKey(tx, left, now);
        return true;
      }),
    backlog: () => backlog(db),
    async oldest() {
      const row = await sql<{ at: number | null }>`
        select min(received_at) as at from adbind_inbox where state = 'pending'`.first(db);
      return row?.at ?? null;
    },
  };
}

/** Runs a statement on one event, in a transaction only where there is something to ask first. */
const aloneOn =
  (db: Db, guard: Guarded) =>
  (id: number, change: Sql<never>): Promise<number> =>
    guard.none
      ? change.run(db)
      : db.transaction(async (tx) => {
          await guard.event(tx, id);
          return change.run(tx);
        });

const joined = sql`select i.*, s.url from adbind_inbox i join adbind_senders s on s.id = i.sender`;

/**
 * One whose effect runs is locked for as long: it is its transaction's, and the others are not to wait for that. Who only looks at
 * leases, in `take`, keeps none from being renewed.
 */
async function renew(db: Db, ids: readonly number[], { owner, until }: Lease): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update adbind_inbox set due = ${until} where id in (
      select id from adbind_inbox where id = any(${ids}::bigint[]) and owner = ${owner} and state = 'pending'
      for no key update skip locked
    )`.run(db);
}

interface TakeDependencies {
  readonly leases: LeaseWatch;
  readonly clock: ClockWatch;
  readonly guard: Guarded;
}

/** After the clock was set back: what waits comes nearer, and a lease is as long as one is, which a holder that lives renews. */
async function pull(
  db: Db,
  { until, now }: { until: number; now: number },
  { clock, guard }: TakeDependencies,
): Promise<void> {
  const back = clock.look(now);
  if (back === undefined) return;
  await sql`
    update adbind_inbox set due = case when owner is null then greatest(${now}, due - ${back.by}) else ${until} end
    where state = 'pending' and due < ${BLOCKED_DUE_MS}
      and ((owner is null and due > ${back.beyond}) or (owner is not null and due > ${until}))${guard.inPlace}`.run(db);
}

async function take(
  db: Db,
  request: Lease & { now: number; limit: number },
  taking: TakeDependencies,
): Promise<InboxEvent[]> {
  const { owner, until, now, limit } = request;
  const { leases, guard } = taking;
  await pull(db, request, taking);
  // One that is locked is not over, its effect runs: seen here, it would keep others beyond the limit from being seen. Undone, it is
  // watched from then on, and its holder has the time to say what became of it.
  const looking = await sql<LeasedRow>`
    select id, owner, due from adbind_inbox
    where state = 'pending' and due <= ${now} and owner is not null order by due limit ${limit}
    for key share skip locked`.rows(db);
  const ended = leases.ended(looking, now, until - now);
  if (ended.length > 0) {
    // One that was renewed or taken meanwhile is due at another time; of one that is locked by now an effect begins.
    await sql`
      update adbind_inbox set owner = null where id in (
        select i.id from adbind_inbox i join
          unnest(${ended.map(({ id }) => id)}::bigint[], ${ended.map(({ due }) => due)}::bigint[]) as e (id, due)
          on i.id = e.id and i.due = e.due
        where i.state = 'pending' for no key update of i skip locked
      )`.run(db);
  }
  const leased = await sql<{ id: number }>`
    update adbind_inbox set owner = ${owner}, due = ${until} where id in (
      select id from adbind_inbox where state = 'pending' and due <= ${now} and owner is null${guard.inPlace}
      order by due limit ${limit} for update skip locked
    ) returning id`.rows(db);
  if (leased.length === 0) return [];
  const ids = leased.map((row) => row.id);
  return (await sql<InboxRow>`${joined} where i.id = any(${ids}::bigint[]) order by i.id`.rows(db)).map(toEvent);
}

/** Locks the event's task before the event itself, the order in which `accept` takes them. */
async function lockOrderingKey(tx: Tx, id: number): Promise<Left | undefined> {
  const left = await sql<Left>`select sender, ordering_key from adbind_inbox where id = ${id}`.first(tx);
  if (left?.ordering_key != null) await lockTask(tx, { sender: left.sender, taskId: left.ordering_key });
  return left;
}

/** Lets the next event of a task go once the one before it has left. */
async function releaseOrderingKey(tx: Tx, { sender, ordering_key: orderingKey }: Left, now: number): Promise<void> {
  if (orderingKey === null) return;
  await sql`
    update adbind_inbox set due = ${now} where due = ${BLOCKED_DUE_MS} and id = (
      select min(id) from adbind_inbox where state = 'pending' and sender = ${sender} and ordering_key = ${orderingKey}
    )`.run(tx);
}

/**
 * Events whose handlers wrote nothing, removed by one statement that is its own transaction. One that others may wait
 * behind is completed by itself, and so is one that was not found, to learn why.
 */
function endedTogether(db: Db, guard: Guarded): (held: Held) => Promise<"completed" | "lost"> {
  const together = async (all: readonly Held[]) => {
    const ids = all.map(({ id }) => id);
    const attempts = all.map((held) => held.attempts ?? null);
    const removed = await sql<{ id: number; owner: string }>`
      delete from adbind_inbox where id = any(${ids}::bigint[]) and ordering_key is null
        and owner = (${all.map(({ owner }) => owner)}::text[])[array_position(${ids}::bigint[], id)]
        and attempts = coalesce((${attempts}::integer[])[array_position(${ids}::bigint[], id)], attempts)
      returning id, owner`
      .kept()
      .rows(db);
    const gone = new Set(removed.map(({ id, owner }) => `${id} ${owner}`));
    return all.map(({ id, owner }) => (gone.delete(`${id} ${owner}`) ? ({ result: "completed" } as const) : undefined));
  };
  return gathering({ together, alone: (held: Held) => complete(db, held, { guard, effect: undefined }) });
}

async function complete(
  db: Db,
  held: Held,
  { guard, effect }: { guard: Guarded; effect: Effect<Tx> | undefined },
): Promise<"completed" | "lost"> {
  const { id, owner, attempts = null, now, signal } = held;
  const removal = sql`
    delete from adbind_inbox
    where id = ${id} and owner = ${owner} and attempts = coalesce(${attempts}::integer, attempts)`;
  return db.transaction(async (tx) => {
    await guard.event(tx, id);
    const left = await lockOrderingKey(tx, id);
    const deleted = await removal.run(tx);
    if (deleted !== 1 || left === undefined) return "lost";
    await releaseOrderingKey(tx, left, now);
    // An effect that never ends would hold its rows for ever: the transaction ends when its run is given up.
    if (effect !== undefined) await unlessAborted(effect(tx), signal);
    // Given up between the last write and the commit: all of it is undone.
    signal?.throwIfAborted();
    return "completed";
  });
}

const deadLetter = (
  db: Db,
  { id, owner, now }: Held,
  { guard, error }: { guard: Guarded; error: string },
): Promise<void> =>
  db.transaction(async (tx) => {
    await guard.event(tx, id);
    const left = await lockOrderingKey(tx, id);
    const changed = await sql`
      update adbind_inbox set state = 'dead', owner = null, error = ${error}, attempts = attempts + 1
      where id = ${id} and owner = ${owner}`.run(tx);
    if (changed === 1 && left !== undefined) await releaseOrderingKey(tx, left, now);
  });

async function list(
  db: Db,
  { state, sender, taskId, after = 0, limit = LIST_LIMIT_ROWS }: InboxFilter,
): Promise<InboxEvent[]> {
  const ofState = state === undefined ? sql`` : sql` and i.state = ${state}`;
  const ofSender = sender === undefined ? sql`` : sql` and s.url = ${sender}`;
  const ofTask = taskId === undefined ? sql`` : sql` and i.task_id = ${taskId}`;
  const rows = await sql<InboxRow>`
    ${joined} where i.id > ${after}${ofState}${ofSender}${ofTask} order by i.id limit ${Math.min(limit, LIST_LIMIT_ROWS)}`.rows(
    db,
  );
  return rows.map(toEvent);
}

async function backlog(db: Db): Promise<Backlog> {
  const rows = await sql<{ state: keyof Backlog; n: number }>`
    select state, count(*) as n from adbind_inbox group by state`.rows(db);
  return { pending: 0, parked: 0, dead: 0, ...Object.fromEntries(rows.map((row) => [row.state, row.n])) };
}

/** Gives up parked events whose time is over; answers how many. */
export const deadLetterParked = (db: Db, now: number, limit: number): Promise<number> =>
  sql`
    update adbind_inbox set state = 'dead', error = ${UNREGISTERED_ERROR} where id in (
      select id from adbind_inbox where state = 'parked' and due <= ${now} order by due limit ${limit}
      for update skip locked
    )`.run(db);
