/** Order of events per task: strictly newer applies, and a terminal state is never left. */
import type { Database } from "better-sqlite3";
import { DAY_MS, RECEIVED_TASK_RETENTION_MS } from "../rows.js";
import type { AcceptOutcome, TaskOrder, TaskState } from "../types.js";

interface TaskRow {
  instant: string;
  status: string;
  terminal: number;
  missed: number | null;
  expires: number;
}

export type OrderResult =
  /** `first`: nothing was known of the task. */
  | { readonly applied: true; readonly first: boolean }
  | { readonly applied: false; readonly stale: Extract<AcceptOutcome, { outcome: "stale" }> };

/** Is an event newer than the last one of a task that goes on? */
function applies({ instant, terminal, by }: TaskOrder, last: string): boolean {
  switch (by) {
    case "sender":
      return instant > last;
    case "arrival":
      return true;
    case "poll":
      return terminal || instant > last;
  }
}

/** Every function but `state` runs inside the caller's transaction. */
export interface SqliteTasks {
  apply(sender: number, taskId: string, order: TaskOrder, now: number): OrderResult;
  state(sender: number, taskId: string, operationId?: string | null): TaskState | undefined;
  expire(now: number, limit: number): number;
  /** Of those whose id another task had before. */
  readonly further: { expire(now: number, limit: number): number };
}

type Key = readonly (number | string)[];

/** The rows of one of the tables that tasks are in: the first operation of a task's id, and those after it. */
function orders(db: Database, table: "adbind_tasks" | "adbind_task_operations", key: readonly string[]) {
  const named = key.map((column) => `${column} = ?`).join(" and ");
  const select = db.prepare<unknown[], TaskRow>(
    `select instant, status, terminal, missed, expires from ${table} where ${named}`,
  );
  const insert = db.prepare(
    `insert into ${table} (${key.join(", ")}, instant, status, terminal, expires) ` +
      `values (${"?, ".repeat(key.length)}?, ?, ?, ?) on conflict do nothing`,
  );
  const update = db.prepare(`update ${table} set instant = max(instant, ?), status = ?, terminal = ? where ${named}`);
  const mark = db.prepare(`update ${table} set missed = ? where ${named}`);
  const prolong = db.prepare(`update ${table} set expires = ? where ${named}`);
  const oldest = db.prepare<[number, number], Record<string, number | string>>(
    `select ${key.join(", ")} from ${table} where expires <= ? order by expires limit ?`,
  );
  const remove = db.prepare(`delete from ${table} where ${named}`);
  return {
    prolong: (of: Key, expires: number): void => void prolong.run(expires, ...of),
    apply(of: Key, order: TaskOrder, now: number): OrderResult {
      const { instant, status, terminal } = order;
      const expires = now + RECEIVED_TASK_RETENTION_MS;
      if (insert.run(...of, instant, status, Number(terminal), expires).changes === 1) {
        return { applied: true, first: true };
      }
      const found = select.get(...of)!;
      if (found.terminal === 1) {
        const conflict = terminal && found.status !== status;
        return { applied: false, stale: { outcome: "stale", reason: "terminal", conflict, missed: false } };
      }
      if (!applies(order, found.instant)) {
        if (terminal) mark.run(now, ...of);
        const stale = { outcome: "stale", reason: "not_newer", conflict: false, missed: terminal } as const;
        return { applied: false, stale };
      }
      if (terminal && found.missed !== null) mark.run(null, ...of);
      update.run(instant, status, Number(terminal), ...of);
      // The index on it is rewritten once a day at most, not at every event.
      if (expires - found.expires > DAY_MS) prolong.run(expires, ...of);
      return { applied: true, first: false };
    },
    state(of: Key): TaskState | undefined {
      const row = select.get(...of);
      return row && { instant: row.instant, status: row.status, terminal: row.terminal === 1, missed: row.missed };
    },
    expire(now: number, limit: number): number {
      const rows = oldest.all(now, limit);
      for (const row of rows) remove.run(...key.map((column) => row[column]));
      return rows.length;
    },
  };
}

export function sqliteTasks(db: Database): SqliteTasks {
  const firsts = orders(db, "adbind_tasks", ["sender", "task_id"]);
  const others = orders(db, "adbind_task_operations", ["sender", "task_id", "operation_id"]);
  const operation = db
    .prepare<[number, string], string | null>("select operation_id from adbind_tasks where sender = ? and task_id = ?")
    .pluck();
  const name = db.prepare("update adbind_tasks set operation_id = ? where sender = ? and task_id = ?");
  /** The operation of the first task of an id, where it was asked for one. */
  const firstOf = (sender: number, taskId: string, asked: string | null): string | null | undefined =>
    asked === null ? undefined : operation.get(sender, taskId);
  return {
    apply(sender, taskId, order, now) {
      const { operation: of = null } = order;
      const first = firstOf(sender, taskId, of);
      if (of !== null && first != null && first !== of) {
        // It tells that there is another, and is there as long as either.
        firsts.prolong([sender, taskId], now + RECEIVED_TASK_RETENTION_MS);
        return others.apply([sender, taskId, of], order, now);
      }
      const result = firsts.apply([sender, taskId], order, now);
      if (of !== null && first == null && result.applied) name.run(of, sender, taskId);
      return result;
    },
    state(sender, taskId, of = null) {
      const first = firstOf(sender, taskId, of);
      const isOther = of !== null && first != null && first !== of;
      return isOther ? others.state([sender, taskId, of]) : firsts.state([sender, taskId]);
    },
    expire: firsts.expire,
    further: others,
  };
}
