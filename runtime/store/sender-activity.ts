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
  readonly expiring: readonly ExpiringIn<Query>[];
}

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

const activityColumns = [
  ["principal", "text"],
  ["subject", "text"],
  ["record", "text"],
  ["expires", "bigint"],
] as const;

const log: ActivityTables["log"] = (tx, rows) =>
  tx.insert(
    "adbind_activity",
    activityColumns,
    rows.map((row) => activityColumns.map(([name]) => row[name])),
  );

export const activityTables = (dialect: Dialect): ActivityTables => {
  const [activity, tasks, dedup] = expiringTables(dialect);
  return {
    log,
    activity: (tx, { principal, subject }, { limit, now }) =>
      tx.rows(
        "select record from adbind_activity where principal = ? and subject = ? and expires > ? order by id desc limit ?",
        [principal, subject, now, limit],
      ),
    expiring: [
      expiringOf(activity, "(expires, id)", "old webhook activity"),
      expiringOf(tasks, "task_id", "expired tasks"),
      expiringOf(dedup, "(task_id, dedup_key)", "expired dedup keys"),
    ],
  };
};
