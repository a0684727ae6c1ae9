/** Accepted events until their handler is done: accept, lease, complete, give back, give up. */
import type { Database } from "better-sqlite3";
import type { SqliteDatabase } from "../../db/sqlite/open.js";
import type { Writer } from "../../db/sqlite/writer.js";
import { ClockWatch } from "../clock-watch.js";
import { type LeasedRow, LeaseWatch } from "../lease-watch.js";
import { BLOCKED_DUE_MS, type InboxRow, LIST_LIMIT_ROWS, toEvent, UNREGISTERED_ERROR } from "../rows.js";
import type { Backlog, Effect, Held, Inbox, InboxEvent, InboxFilter } from "../types.js";
import { type AcceptDependencies, acceptor } from "./accept.js";
import type { Guarded } from "./guarded.js";
import { refusePromise } from "./refuse-promise.js";

/** Rows looked at beyond those asked for: leases that look run out stand before what may be taken. */
const WATCHED_ROWS = 16;

export interface InboxDependencies extends AcceptDependencies {
  readonly writer: Writer;
  readonly told: SqliteDatabase["told"];
  readonly guard: Guarded;
}

export interface SqliteInbox extends Inbox<Database> {
  /** Gives up parked events whose time is over; answers how many. */
  deadLetterParked(now: number, limit: number): number;
}

const columns =
  "i.id, i.state, s.url, i.key, i.route, i.kind, i.release, i.format, i.task_type, i.task_id, i.operation_id, " +
  "i.status, i.instant, i.notification_id, i.reemission, i.received_at, i.attempts, i.due, i.error, i.notes, " +
  "i.traceparent, i.body";
const source = `select ${columns} from adbind_inbox i join adbind_senders s on s.id = i.sender`;

export function sqliteInbox(dependencies: InboxDependencies): SqliteInbox {
  const { db, writer, told, guard } = dependencies;
  const accept = acceptor(dependencies);
  const leases = new LeaseWatch();
  const clock = new ClockWatch();
  const release = orderingKeyRelease(db);
  const due = db.prepare<[number, number], { id: number; owner: string | null; due: number }>(
    "select id, owner, due from adbind_inbox where state = 'pending' and due <= ?" +
      `${guard.inPlace} order by due limit ?`,
  );
  const lease = db.prepare("update adbind_inbox set owner = ?, due = ? where id = ?");
  // After the clock was set back: what waits comes nearer, and a lease is as long as one is, which a holder that lives renews.
  const pull = db.prepare(
    "update adbind_inbox set due = case when owner is null then max(@now, due - @by) else @until end " +
      `where state = 'pending' and due < ${BLOCKED_DUE_MS} ` +
      `and ((owner is null and due > @beyond) or (owner is not null and due > @until))${guard.inPlace}`,
  );
  const prolong = db.prepare("update adbind_inbox set due = ? where id = ? and owner = ? and state = 'pending'");
  const giveBack = db.prepare(
    "update adbind_inbox set owner = null, due = ? where id = ? and owner = ? and state = 'pending'",
  );
  const one = db.prepare<[number], InboxRow>(`${source} where i.id = ?`);
  const overdue = db.prepare(
    "update adbind_inbox set state = 'dead', error = ? where id in " +
      "(select id from adbind_inbox where state = 'parked' and due <= ? order by due limit ?)",
  );
  return {
    accept: (arrival) => guard.ofSender(arrival.event.sender, () => accept(arrival)),
    take: ({ owner, until, now, limit }) =>
      writer.write(() => {
        const back = clock.look(now);
        if (back !== undefined) pull.run({ now, until, ...back });
        const ids = takeable(due.all(now, limit + leases.size + WATCHED_ROWS), leases, { now, until, limit });
        for (const id of ids) lease.run(owner, until, id);
        return ids.map((id) => toEvent(one.get(id)!));
      }),
    renew: (ids, { owner, until }) =>
      writer.write(() => {
        for (const id of ids) prolong.run(until, id, owner);
      }),
    releaseLease: (ids, { owner, now }) =>
      writer.write(() => {
        for (const id of ids) giveBack.run(now, id, owner);
      }),
    complete: completer(writer, release, guard),
    ...leaving(dependencies, release),
    list: async (filter) => told(() => list(db, filter ?? {})),
    async get(id) {
      const row = told(() => one.get(id));
      return row && toEvent(row);
    },
    ...counting(dependencies),
    deadLetterParked: (now, limit) => overdue.run(UNREGISTERED_ERROR, now, limit).changes,
  };
}

/** How an event leaves its lease other than handled, and its list by hand. */
function leaving(
  { db, guard }: InboxDependencies,
  release: ReturnType<typeof orderingKeyRelease>,
): Pick<SqliteInbox, "retry" | "deadLetter" | "replay" | "drop"> {
  const give = db.prepare(
    "update adbind_inbox set owner = null, attempts = attempts + 1, due = ?, error = ? where id = ? and owner = ?",
  );
  const ofRow = db.prepare<[number], { sender: number; ordering_key: string | null }>(
    "select sender, ordering_key from adbind_inbox where id = ?",
  );
  const dead = db.prepare(
    "update adbind_inbox set state = 'dead', owner = null, attempts = attempts + 1, error = ? where id = ? and owner = ?",
  );
  const replay = db.prepare(
    "update adbind_inbox set state = 'pending', attempts = 0, due = ?, error = null where id = ? and state <> 'pending'",
  );
  const remove = db.prepare<[number], { sender: number; ordering_key: string | null }>(
    "delete from adbind_inbox where id = ? returning sender, ordering_key",
  );
  return {
    retry: (held, at, error) => guard.ofEvent(held.id, () => void give.run(at, error, held.id, held.owner)),
    deadLetter: (held, error) =>
      guard.ofEvent(held.id, () => {
        if (dead.run(error, held.id, held.owner).changes === 1) release(ofRow.get(held.id)!, held.now);
      }),
    replay: (id, now) => guard.ofEvent(id, () => replay.run(now, id).changes === 1),
    drop: (id, now) =>
      guard.ofEvent(id, () => {
        const row = remove.get(id);
        if (row !== undefined) release(row, now);
        return row !== undefined;
      }),
  };
}

/** How much waits, and how long it has. */
function counting({ db, told }: InboxDependencies): Pick<SqliteInbox, "backlog" | "oldest"> {
  const counts = db.prepare<[], { state: keyof Backlog; n: number }>(
    "select state, count(*) as n from adbind_inbox group by state",
  );
  const oldest = db.prepare<[], { at: number | null }>(
    "select min(received_at) as at from adbind_inbox where state = 'pending'",
  );
  return {
    async backlog() {
      const found = Object.fromEntries(told(() => counts.all()).map((row) => [row.state, row.n]));
      return { pending: 0, parked: 0, dead: 0, ...found };
    },
    oldest: async () => told(() => oldest.get()?.at ?? null),
  };
}

/** Of events that are due, those nobody holds, and those whose holder is gone; in their order of arrival. */
function takeable(
  rows: readonly { readonly id: number; readonly owner: string | null; readonly due: number }[],
  leases: LeaseWatch,
  { now, until, limit }: { readonly now: number; readonly until: number; readonly limit: number },
): number[] {
  const leased = rows.filter((row): row is LeasedRow => row.owner !== null);
  const ended = leases.ended(leased, now, until - now).map(({ id }) => id);
  const free = rows.filter(({ owner, id }) => owner === null || ended.includes(id)).slice(0, limit);
  return free.map(({ id }) => id).sort((a, b) => a - b);
}

/** Lets the next event of a task go once the one before it has left; there seldom is one. */
const orderingKeyRelease = (db: Database) => {
  const first = db.prepare<[number, string], { id: number; due: number }>(
    "select id, due from adbind_inbox where state = 'pending' and sender = ? and ordering_key = ? order by id limit 1",
  );
  const free = db.prepare("update adbind_inbox set due = ? where id = ?");
  return (
    { sender, ordering_key: orderingKey }: { sender: number; ordering_key: string | null },
    now: number,
  ): void => {
    const next = orderingKey === null ? undefined : first.get(sender, orderingKey);
    if (next?.due === BLOCKED_DUE_MS) free.run(now, next.id);
  };
};

const completer = (writer: Writer, release: ReturnType<typeof orderingKeyRelease>, guard: Guarded) => {
  type Given = [id: number, owner: string, attempts: number | null];
  const removal = "delete from adbind_inbox where id = ? and owner = ? and attempts = coalesce(?, attempts)";
  const remove = writer.db.prepare<Given, { sender: number; ordering_key: string | null }>(
    `${removal} returning sender, ordering_key`,
  );
  // Most have nothing behind them, and what comes back from a delete costs as much as the delete.
  const removeAlone = writer.db.prepare<Given>(`${removal} and ordering_key is null`);
  const finish = ({ id, owner, attempts, now, signal }: Held): "completed" | "lost" => {
    if (signal?.aborted) return "lost";
    const given: Given = [id, owner, attempts ?? null];
    if (removeAlone.run(...given).changes === 1) return "completed";
    const row = remove.get(...given);
    if (row === undefined) return "lost";
    release(row, now);
    return "completed";
  };
  return (held: Held, effect?: Effect<Database>): Promise<"completed" | "lost"> => {
    if (effect === undefined && guard.none) return writer.lazy(() => finish(held));
    const withEffect = (): "completed" | "lost" => {
      const result = finish(held);
      if (result === "completed" && effect !== undefined) refusePromise(effect(writer.db), "the effect");
      return result;
    };
    return guard.none ? writer.guarded(withEffect) : guard.ofEvent(held.id, withEffect);
  };
};

function list(db: Database, { after = 0, limit = LIST_LIMIT_ROWS, ...filter }: InboxFilter): InboxEvent[] {
  const columns = { "i.state": filter.state, "s.url": filter.sender, "i.task_id": filter.taskId };
  const asked = Object.entries(columns).flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]));
  const where = ["i.id > ?", ...asked.map(({ column }) => `${column} = ?`)].join(" and ");
  const values = [after, ...asked.map(({ value }) => value), Math.min(limit, LIST_LIMIT_ROWS)];
  return db
    .prepare<(string | number)[], InboxRow>(`${source} where ${where} order by i.id limit ?`)
    .all(...values)
    .map(toEvent);
}
