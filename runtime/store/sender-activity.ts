/** What was sent, and how it went, by subject; and what of a sender's rows is over. */
import type { Coroutine } from "../db/coroutine.js";
import type { Dialect, Query } from "../db/types.js";
import type { ExpiringIn } from "./expiry.js";

export interface ActivityRow {
  readonly principal: string;
  readonly subject: string;
  readonly record: string;
  readonly expires: number;
}

export interface ActivityTables {
  log(tx: Query, rows: readonly ActivityRow[]): Coroutine<void>;
  /** Newest first, without what has expired though it still stands there. */
  activity(
    tx: Query,
    of: { readonly principal: string; readonly subject: string },
    page: { readonly limit: number; readonly now: number },
  ): Coroutine<{ record: string }[]>;
  /** @param needed which tasks are kept though their time is over */
  expiring(needed: TasksNeeded): readonly ExpiringIn<Query>[];
}

/** Those of some tasks that something needs still. */
export type TasksNeeded = (tx: Query, taskIds: readonly string[]) => Coroutine<ReadonlySet<string>>;

/** When a task that is needed though its time is over is looked at again, in milliseconds. */
const NEEDED_CHECK_MS = 600_000;

/** Of activity by days only what no day takes along: days are dropped as a whole. */
export const expiringTables = ({ undated }: Dialect) =>
  [undated("adbind_activity"), "adbind_sent_tasks", "adbind_dedup"] as const;

const expiringOf = (table: string, key: string, what: string): ExpiringIn<Query> => ({
  what,
  *remove(tx, now, limit) {
    const columns = key.replace(/[()]/g, "");
    const oldest = `select ${columns} from ${table} where expires <= ? order by expires limit ?${tx.dialect.forUpdateFree}`;
    return (yield* tx.rows(`delete from ${table} where ${key} in (${oldest}) returning 1`, [now, limit])).length;
  },
});

const expiredTasks = (table: string, needed: TasksNeeded): ExpiringIn<Query> => ({
  what: "expired tasks",
  *remove(tx, now, limit) {
    const rows = yield* tx.rows<{ task_id: string }>(
      `select task_id from ${table} where expires <= ? order by expires limit ?${tx.dialect.forUpdateFree}`,
      [now, limit],
    );
    if (rows.length === 0) return 0;
    const ids = rows.map((row) => row.task_id);
    const kept = yield* needed(tx, ids);
    const over = ids.filter((id) => !kept.has(id));
    yield* tx.remove(
      table,
      [["task_id", "text"]],
      over.map((id) => [id]),
    );
    // Later, or they would stand before all others each time.
    if (kept.size > 0)
      yield* tx.run(`update ${table} set expires = ? where task_id in (${[...kept].map(() => "?").join(", ")})`, [
        now + NEEDED_CHECK_MS,
        ...kept,
      ]);
    return rows.length;
  },
});

const activityColumns = [
  ["principal", "text"],
  ["subject", "text"],
  ["record", "text"],
  ["expires", "bigint"],
] as const;

const log: ActivityTables["log"] = function* (tx, rows) {
  const values = rows.map((row) => activityColumns.map(([name]) => row[name]));
  yield* tx.insert("adbind_activity", activityColumns, values);
};

export const activityTables = (dialect: Dialect): ActivityTables => {
  const [activity, tasks, dedup] = expiringTables(dialect);
  return {
    log,
    activity: (tx, { principal, subject }, { limit, now }) =>
      tx.rows(
        "select record from adbind_activity where principal = ? and subject = ? and expires > ? order by id desc limit ?",
        [principal, subject, now, limit],
      ),
    expiring: (needed) => [
      expiringOf(activity, "(expires, id)", "old webhook activity"),
      expiredTasks(tasks, needed),
      expiringOf(dedup, "(task_id, dedup_key)", "expired dedup keys"),
    ],
  };
};
