/** Order of events per task: strictly newer applies, and a terminal state is never left. */
import type { Database } from "better-sqlite3";
import { dayAfter, TASK_RETENTION_MS } from "../rows.js";
import type { Arrival, TaskState } from "../types.js";

interface TaskRow {
  instant: string;
  status: string;
  terminal: number;
}

export type OrderResult = "applied" | { readonly reason: "not_newer" | "terminal"; readonly conflict: boolean };

export interface Tasks {
  /** Inside the caller's transaction. */
  apply(sender: number, taskId: string, order: NonNullable<Arrival["order"]>, now: number): OrderResult;
  state(sender: number, taskId: string): TaskState | undefined;
  expire(now: number, limit: number): number;
}

export function sqliteTasks(db: Database): Tasks {
  const select = db.prepare<[number, string], TaskRow>(
    "select instant, status, terminal from adbind_tasks where sender = ? and task_id = ?",
  );
  const insert = db.prepare(
    "insert into adbind_tasks (sender, task_id, instant, status, terminal, expires) values (?, ?, ?, ?, ?, ?)",
  );
  const update = db.prepare(
    "update adbind_tasks set instant = ?, status = ?, terminal = ?, expires = ? where sender = ? and task_id = ?",
  );
  const oldest = db.prepare<[number, number], { sender: number; task_id: string }>(
    "select sender, task_id from adbind_tasks where expires <= ? order by expires limit ?",
  );
  const remove = db.prepare("delete from adbind_tasks where sender = ? and task_id = ?");
  return {
    apply(sender, taskId, { instant, status, terminal }, now) {
      const found = select.get(sender, taskId);
      if (found?.terminal === 1) return { reason: "terminal", conflict: terminal && found.status !== status };
      if (found !== undefined && found.instant >= instant) return { reason: "not_newer", conflict: false };
      const expires = dayAfter(now + TASK_RETENTION_MS);
      if (found === undefined) insert.run(sender, taskId, instant, status, Number(terminal), expires);
      else update.run(instant, status, Number(terminal), expires, sender, taskId);
      return "applied";
    },
    state(sender, taskId) {
      const row = select.get(sender, taskId);
      return row && { instant: row.instant, status: row.status, terminal: row.terminal === 1 };
    },
    expire(now, limit) {
      const rows = oldest.all(now, limit);
      for (const { sender, task_id } of rows) remove.run(sender, task_id);
      return rows.length;
    },
  };
}
