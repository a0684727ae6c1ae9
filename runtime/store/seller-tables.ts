/** Calls and tasks of a seller, and the transactions they are written in. */
import type { Coroutine } from "../db/coroutine.js";
import { likePart } from "../db/like.js";
import type { Database, Value } from "../db/types.js";
import type { ExpiringIn } from "./expiry.js";
import { fromNow, type HeldTaskTables, heldTaskTables } from "./held-tasks.js";
import { type Runner, runner } from "./runner.js";
import type { SellerTaskRow } from "./seller-task.js";
import { CLOCK_MARK, type ClockMark, MARK_CLOCK, readClock } from "./sweep-clock.js";

/** A call under an idempotency key. */
export interface CallRow {
  /** Principal and account, digested. */
  readonly scope: string;
  readonly key: string;
  /** Digest of the canonical request. */
  readonly hash: string;
  /** Who answers it now; null once it is answered. */
  readonly owner: string | null;
  /** Until when the owner is believed to live, by the database's clock. */
  readonly lease: number;
  /** JSON; null while it runs, and again when it is no longer replayed. */
  readonly answer: string | null;
  readonly replay_until: number;
  readonly forget_at: number;
  /** Whose call it is; null where an instance of before this was kept has written it. */
  readonly principal: string | null;
}

/** As it is when it is looked at. */
export interface FoundCall extends CallRow {
  /** How much longer the owner is believed to live, in milliseconds. */
  readonly lease_left: number;
}

export interface TaskFilter {
  readonly principal: string;
  readonly account?: string;
  readonly in?: Readonly<Partial<Record<"tool" | "protocol" | "status" | "task_id", readonly string[]>>>;
  /** Bounds, exclusive. */
  readonly after?: Readonly<Partial<Record<TimeColumn, number>>>;
  readonly before?: Readonly<Partial<Record<TimeColumn, number>>>;
  readonly hasWebhook?: boolean;
  /** A2A's name for what several tasks belong to. */
  readonly contextId?: string;
  /** A part of the context's JSON text. */
  readonly contextContains?: string;
}

type TimeColumn = "created_at" | "updated_at";

export interface TaskPage {
  readonly order: "created_at" | "updated_at" | "status" | "tool" | "protocol";
  readonly descending: boolean;
  /** The task that the page before ended with, as it was then. */
  readonly after?: { readonly value: number | string; readonly taskId: string } | undefined;
  readonly limit: number;
}

export interface SellerTables<Tx> extends HeldTaskTables<Tx> {
  /** Adds a call unless its key is there; answers its key when it was added. */
  addCall(tx: Tx, row: Omit<CallRow, "lease">, leaseMs: number): Coroutine<{ key: string }[]>;
  /** Also locks it. */
  call(tx: Tx, scope: string, key: string): Coroutine<FoundCall[]>;
  /** Takes over a call whose owner is gone. */
  takeCall(tx: Tx, row: HeldCall & Pick<CallRow, "hash">, leaseMs: number): Coroutine<unknown[]>;
  renewCall(tx: Tx, of: HeldCall, leaseMs: number): Coroutine<unknown[]>;
  /** Records the answer; answers the key where the owner still holds it. */
  answerCall(tx: Tx, of: HeldCall, answer: string, until: CallTimes): Coroutine<{ key: string }[]>;
  /** Forgets a call that failed: its key may be used again. */
  dropCall(tx: Tx, of: HeldCall): Coroutine<unknown[]>;
  /**
   * Adds a task unless its id is taken; answers the id when it was added.
   * @param heldMs for how long its worker has it, in milliseconds; null where it has none
   */
  addTask(tx: Tx, row: Omit<SellerTaskRow, "held_until">, heldMs: number | null): Coroutine<{ task_id: string }[]>;
  /** Also locks it. */
  task(tx: Tx, taskId: string): Coroutine<SellerTaskRow[]>;
  setTask(tx: Tx, row: SellerTaskRow): Coroutine<unknown[]>;
  dropTask(tx: Tx, taskId: string): Coroutine<unknown[]>;
  tasks(tx: Tx, filter: TaskFilter, page: TaskPage): Coroutine<SellerTaskRow[]>;
  countTasks(tx: Tx, filter: TaskFilter): Coroutine<{ status: string; count: number }[]>;
  /** Tasks that are not over, oldest first. */
  unfinished(tx: Tx, after: number, limit: number): Coroutine<SellerTaskRow[]>;
  tasksOf(tx: Tx, principal: string, resource: string): Coroutine<{ task_id: string }[]>;
  /** What time it is for what expires, in unix milliseconds: a clock that jumped ahead is not believed for a day. */
  expiryTime(tx: Tx, now: number): Coroutine<number>;
  /** Answers that are no longer replayed, and what is to be forgotten. */
  readonly expiring: readonly ExpiringIn<Tx>[];
}

export interface HeldCall {
  readonly scope: string;
  readonly key: string;
  readonly owner: string;
}

export interface CallTimes {
  readonly replay_until: number;
  readonly forget_at: number;
}

/** @param until a column that is given as milliseconds from now */
const insert = (table: string, row: object, until: { column: string; ms: number | null; clock: string }) => {
  const columns = Object.keys(row);
  return {
    text:
      `insert into ${table} (${[...columns, until.column].join(", ")}) ` +
      `values (${[...columns.map(() => "?"), fromNow(until.clock)].join(", ")}) on conflict do nothing`,
    values: [...Object.values(row), until.ms] as Value[],
  };
};

export function sellerTables<Tx>(database: Pick<Database<Tx>, "statements" | "dialect">): SellerTables<Tx> {
  const run = runner(database);
  const { forUpdate: lock, clock } = database.dialect;
  return {
    ...callTables(run, { lock, clock }),
    ...taskTables(run, { lock, clock }),
    ...heldTaskTables(run, clock),
    expiryTime: expiryTime(run),
    expiring: expiringRows(run),
  };
}

type CallMethods = "addCall" | "call" | "takeCall" | "renewCall" | "answerCall" | "dropCall";

/** What the dialect says of rows that are read to be changed, and of what is held for a time. */
interface Rules {
  readonly lock: string;
  readonly clock: string;
}

const callTables = <Tx>(run: Runner<Tx>, { lock, clock }: Rules): Pick<SellerTables<Tx>, CallMethods> => {
  const held = "where scope = ? and key = ? and owner = ?";
  const lease = `lease = ${fromNow(clock)}`;
  const found = `select *, lease - ${clock} as lease_left from adbind_calls where scope = ? and key = ?${lock}`;
  return {
    addCall(tx, row, ms) {
      const { text, values } = insert("adbind_calls", row, { column: "lease", ms, clock });
      return run(tx, `${text} returning key`, values);
    },
    call: (tx, scope, key) => run(tx, found, [scope, key]),
    takeCall: (tx, { hash, owner, scope, key }, ms) =>
      run(tx, `update adbind_calls set hash = ?, owner = ?, ${lease} where scope = ? and key = ?`, [
        ...[hash, owner, ms],
        ...[scope, key],
      ]),
    renewCall: (tx, of, ms) => run(tx, `update adbind_calls set ${lease} ${held}`, [ms, of.scope, of.key, of.owner]),
    answerCall: (tx, of, answer, until) =>
      run(
        tx,
        `update adbind_calls set owner = null, answer = ?, replay_until = ?, forget_at = ? ${held} returning key`,
        [answer, until.replay_until, until.forget_at, of.scope, of.key, of.owner],
      ),
    dropCall: (tx, of) => run(tx, `delete from adbind_calls ${held}`, [of.scope, of.key, of.owner]),
  };
};

type TaskMethods = "addTask" | "task" | "setTask" | "dropTask" | "tasks" | "countTasks" | "unfinished" | "tasksOf";

const taskTables = <Tx>(run: Runner<Tx>, { lock, clock }: Rules): Pick<SellerTables<Tx>, TaskMethods> => ({
  addTask(tx, row, ms) {
    const { text, values } = insert("adbind_seller_tasks", row, { column: "held_until", ms, clock });
    return run(tx, `${text} returning task_id`, values);
  },
  task: (tx, taskId) => run(tx, `select * from adbind_seller_tasks where task_id = ?${lock}`, [taskId]),
  setTask: (tx, row) =>
    run(
      tx,
      "update adbind_seller_tasks set status = ?, updated_at = ?, completed_at = ?, has_webhook = ?, request = ?, " +
        "message = ?, progress = ?, result = ?, resource = ?, expires = ?, worker = ?, held_until = ? where task_id = ?",
      [
        row.status,
        row.updated_at,
        row.completed_at,
        row.has_webhook,
        row.request,
        row.message,
        row.progress,
        row.result,
        row.resource,
        row.expires,
        row.worker,
        row.held_until,
        row.task_id,
      ],
    ),
  dropTask: (tx, taskId) => run(tx, "delete from adbind_seller_tasks where task_id = ? returning task_id", [taskId]),
  tasks(tx, filter, { order, descending, after, limit }) {
    const { text, values } = whereOf(filter);
    const direction = descending ? "desc" : "asc";
    const beyond = after === undefined ? "" : ` and (${order}, task_id) ${descending ? "<" : ">"} (?, ?)`;
    const place = after === undefined ? [] : [after.value, after.taskId];
    return run(
      tx,
      `select * from adbind_seller_tasks ${text}${beyond} order by ${order} ${direction}, task_id ${direction} limit ?`,
      [...values, ...place, limit],
    );
  },
  countTasks(tx, filter) {
    const { text, values } = whereOf(filter);
    return run(tx, `select status, count(*) as count from adbind_seller_tasks ${text} group by status`, values);
  },
  unfinished: (tx, after, limit) =>
    run(
      tx,
      "select * from adbind_seller_tasks where completed_at is null and created_at >= ? order by created_at, task_id limit ?",
      [after, limit],
    ),
  tasksOf: (tx, principal, resource) =>
    run(tx, "select task_id from adbind_seller_tasks where principal = ? and resource = ?", [principal, resource]),
});

function whereOf(filter: TaskFilter): { text: string; values: Value[] } {
  const conditions = ["principal = ?"];
  const values: Value[] = [filter.principal];
  const add = (text: string, ...given: Value[]): void => {
    conditions.push(text);
    values.push(...given);
  };
  if (filter.account !== undefined) add("account = ?", filter.account);
  for (const [column, allowed] of Object.entries(filter.in ?? {})) {
    add(`${column} in (${allowed.map(() => "?").join(", ") || "null"})`, ...allowed);
  }
  for (const [column, time] of Object.entries(filter.after ?? {})) add(`${column} > ?`, time);
  for (const [column, time] of Object.entries(filter.before ?? {})) add(`${column} < ?`, time);
  if (filter.hasWebhook !== undefined) add("has_webhook = ?", filter.hasWebhook ? 1 : 0);
  if (filter.contextId !== undefined) add("context_id = ?", filter.contextId);
  if (filter.contextContains !== undefined) {
    add("context like ? escape '!'", `%${likePart(filter.contextContains)}%`);
  }
  return { text: `where ${conditions.join(" and ")}`, values };
}

const expiryTime = <Tx>(run: Runner<Tx>): SellerTables<Tx>["expiryTime"] =>
  function* (tx, now) {
    const [held] = yield* run<ClockMark>(tx, CLOCK_MARK, []);
    const { at, next } = readClock(held, now);
    if (next !== undefined) yield* run(tx, MARK_CLOCK, [next.mark, next.lag, next.until]);
    return at;
  };

/** Each removes by one statement the oldest of what has expired. */
const expiringRows = <Tx>(run: Runner<Tx>): readonly ExpiringIn<Tx>[] => {
  const oldest = (key: string, table: string, time: string, more = "") =>
    `(${key}) in (select ${key} from ${table} where ${time} <= ?${more} order by ${time} limit ?) returning ${key}`;
  const calls = (time: string, more = "") => oldest("scope, key", "adbind_calls", time, more);
  const kind = (what: string, text: string): ExpiringIn<Tx> => ({
    what,
    *remove(tx, now, limit) {
      return (yield* run(tx, text, [now, limit])).length;
    },
  });
  return [
    kind("idempotency keys that are remembered no longer", `delete from adbind_calls where ${calls("forget_at")}`),
    kind(
      "answers that are replayed no longer",
      `update adbind_calls set answer = null where ${calls("replay_until", " and answer is not null")}`,
    ),
    kind(
      "expired tasks",
      `delete from adbind_seller_tasks where ${oldest("task_id", "adbind_seller_tasks", "expires")}`,
    ),
    kind(
      "old changes of accounts",
      "delete from adbind_account_changes where (account, seq) in " +
        "(select account, seq from adbind_account_changes where expires <= ? order by expires limit ?) returning 1",
    ),
  ];
};

/** Whose rows a transaction is of: a principal's, or those of a task, whosever it is. */
export type RowsOf = { readonly principal: string } | { readonly taskId: string };

/** A seller's tables, and transactions on them. */
export interface SellerDatabase<Tx> {
  readonly tables: SellerTables<Tx>;
  /** Runs a flow in a transaction; on SQLite nothing in it may wait. Rolls back and rejects with what the flow throws. */
  transact<T>(of: RowsOf, work: (tx: Tx) => Coroutine<T>): Promise<T>;
  /** The same in each of its databases. @throws what one of them met, when each has had its turn */
  everywhere<T>(work: (tx: Tx) => Coroutine<T>): Promise<T[]>;
}

/** A seller's part of a database. */
export const sellerDatabase = <Tx>(database: Database<Tx>): SellerDatabase<Tx> => ({
  tables: sellerTables(database),
  transact: (_of, work) => database.write((_, tx) => work(tx)),
  everywhere: async (work) => [await database.write((_, tx) => work(tx))],
});
