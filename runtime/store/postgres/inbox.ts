/** Accepted events until their handler is done: lease, complete, give back, give up. */
import { sql } from "kysely";
import { BLOCKED_DUE_MS, type InboxRow, LIST_LIMIT_ROWS, toEvent, UNREGISTERED_ERROR } from "../rows.js";
import type { Backlog, Effect, Held, Inbox, InboxEvent, InboxFilter, Lease } from "../types.js";
import { acceptor } from "./accept.js";
import type { Nonces } from "./nonces.js";
import type { Senders } from "./senders.js";
import type { Db, Tx } from "./tables.js";
import { lockTask } from "./tasks.js";

interface Left {
  readonly sender: number;
  readonly lane: string | null;
}

export function postgresInbox(db: Db, senders: Senders, nonces: Nonces): Inbox<Tx> {
  return {
    accept: acceptor(db, senders, nonces),
    take: (request) => take(db, request),
    async renew(ids, { owner, until }) {
      if (ids.length === 0) return;
      await db
        .updateTable("adbind_inbox")
        .set({ due: until })
        .where("id", "in", ids)
        .where("owner", "=", owner)
        .where("state", "=", "pending")
        .execute();
    },
    complete: (held, effect) => complete(db, held, effect),
    async retry({ id, owner }, due, error) {
      await db
        .updateTable("adbind_inbox")
        .set({ owner: null, due, error, attempts: sql<number>`attempts + 1` })
        .where("id", "=", id)
        .where("owner", "=", owner)
        .execute();
    },
    bury: (held, error) => bury(db, held, error),
    list: (filter) => list(db, filter ?? {}),
    async get(id) {
      const row = await joined(db).where("i.id", "=", id).executeTakeFirst();
      return row && toEvent(row);
    },
    async replay(id, now) {
      const { numUpdatedRows } = await db
        .updateTable("adbind_inbox")
        .set({ state: "pending", attempts: 0, due: now, error: null })
        .where("id", "=", id)
        .where("state", "<>", "pending")
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
    drop: (id, now) =>
      db.transaction().execute(async (tx) => {
        const left = await lockLane(tx, id);
        if (left === undefined) return false;
        await tx.deleteFrom("adbind_inbox").where("id", "=", id).execute();
        await releaseLane(tx, left, now);
        return true;
      }),
    backlog: () => backlog(db),
  };
}

const joined = (db: Db | Tx) =>
  db
    .selectFrom("adbind_inbox as i")
    .innerJoin("adbind_senders as s", "s.id", "i.sender")
    .selectAll("i")
    .select("s.url")
    .$castTo<InboxRow>();

async function take(
  db: Db,
  { owner, until, now, limit }: Lease & { now: number; limit: number },
): Promise<InboxEvent[]> {
  const leased = await db
    .updateTable("adbind_inbox")
    .set({ owner, due: until })
    .where("id", "in", (eb) =>
      eb
        .selectFrom("adbind_inbox")
        .select("id")
        .where("state", "=", "pending")
        .where("due", "<=", now)
        .orderBy("due")
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning("id")
    .execute();
  if (leased.length === 0) return [];
  const ids = leased.map((row) => row.id);
  return (await joined(db).where("i.id", "in", ids).orderBy("i.id").execute()).map(toEvent);
}

/** Locks the event's task before the event itself, the order in which `accept` takes them. */
async function lockLane(tx: Tx, id: number): Promise<Left | undefined> {
  const left = await tx.selectFrom("adbind_inbox").select(["sender", "lane"]).where("id", "=", id).executeTakeFirst();
  if (left?.lane != null) await lockTask(tx, { sender: left.sender, taskId: left.lane });
  return left;
}

/** Lets the next event of a task go once the one before it has left. */
async function releaseLane(tx: Tx, { sender, lane }: Left, now: number): Promise<void> {
  if (lane === null) return;
  await tx
    .updateTable("adbind_inbox")
    .set({ due: now })
    .where("due", "=", BLOCKED_DUE_MS)
    .where("id", "=", (eb) =>
      eb
        .selectFrom("adbind_inbox")
        .select((of) => of.fn.min("id").as("id"))
        .where("state", "=", "pending")
        .where("sender", "=", sender)
        .where("lane", "=", lane),
    )
    .execute();
}

const complete = (db: Db, { id, owner, now }: Held, effect?: Effect<Tx>): Promise<"completed" | "lost"> =>
  db.transaction().execute(async (tx) => {
    const left = await lockLane(tx, id);
    const { numDeletedRows } = await tx
      .deleteFrom("adbind_inbox")
      .where("id", "=", id)
      .where("owner", "=", owner)
      .executeTakeFirstOrThrow();
    if (numDeletedRows !== 1n || left === undefined) return "lost";
    await releaseLane(tx, left, now);
    await effect?.(tx);
    return "completed";
  });

const bury = (db: Db, { id, owner, now }: Held, error: string): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const left = await lockLane(tx, id);
    const { numUpdatedRows } = await tx
      .updateTable("adbind_inbox")
      .set({ state: "dead", owner: null, error, attempts: sql<number>`attempts + 1` })
      .where("id", "=", id)
      .where("owner", "=", owner)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 1n && left !== undefined) await releaseLane(tx, left, now);
  });

async function list(db: Db, { state, sender, after = 0, limit = LIST_LIMIT_ROWS }: InboxFilter): Promise<InboxEvent[]> {
  const rows = await joined(db)
    .where("i.id", ">", after)
    .$if(state !== undefined, (query) => query.where("i.state", "=", state!))
    .$if(sender !== undefined, (query) => query.where("s.url", "=", sender!))
    .orderBy("i.id")
    .limit(Math.min(limit, LIST_LIMIT_ROWS))
    .execute();
  return rows.map(toEvent);
}

async function backlog(db: Db): Promise<Backlog> {
  const rows = await db
    .selectFrom("adbind_inbox")
    .select(["state", sql<number>`count(*)`.as("n")])
    .groupBy("state")
    .execute();
  return { pending: 0, parked: 0, dead: 0, ...Object.fromEntries(rows.map((row) => [row.state, row.n])) };
}

/** Gives up parked events whose time is over; answers how many. */
export async function buryParked(db: Db, now: number, limit: number): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable("adbind_inbox")
    .set({ state: "dead", error: UNREGISTERED_ERROR })
    .where("id", "in", (eb) =>
      eb
        .selectFrom("adbind_inbox")
        .select("id")
        .where("state", "=", "parked")
        .where("due", "<=", now)
        .orderBy("due")
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
