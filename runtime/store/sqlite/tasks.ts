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
  state(sender: number, taskId: string): TaskState | undefined;
  expire(now: number, limit: number): number;
}

export function sqliteTasks(db: Database): SqliteTasks {
  const select = db.prepare<[number, string], TaskRow>(
    "select instant, status, terminal, missed, expires from adbind_tasks where sender = ? and task_id = ?",
  );
  const insert = db.prepare(
    "insert into adbind_tasks (sender, task_id, instant, status, terminal, expires) values (?, ?, ?, ?, ?, ?) " +
      "on conflict do nothing",
  );
  const update = db.prepare(
    "update adbind_tasks set instant = max(instant, ?), status = ?, terminal = ? where sender = ? and task_id = ?",
  );
  const clear = db.prepare("update adbind_tasks set missed = null where sender = ? and task_id = ?");
  const mark = db.prepare("update adbind_tasks set missed = ? where sender = ? and task_id = ?");
  const prolong = db.prepare("update adbind_tasks set expires = ? where sender = ? and task_id = ?");
  const oldest = db.prepare<[number, number], { sender: number; task_id: string }>(
    "select sender, task_id from adbind_tasks where expires <= ? order by expires limit ?",
  );
  const remove = db.prepare("delete from adbind_tasks where sender = ? and task_id = ?");
  return {
    apply(sender, taskId, order, now) {
      const { instant, status, terminal } = order;
      const expires = now + RECEIVED_TASK_RETENTION_MS;
      if (insert.run(sender, taskId, instant, status, Number(terminal), expires).changes === 1) {
        return { applied: true, first: true };
      }
      const found = select.get(sender, taskId)!;
      if (found.terminal === 1) {
        const conflict = terminal && found.status !== status;
        return { applied: false, stale: { outcome: "stale", reason: "terminal", conflict, missed: false } };
      }
      if (!applies(order, found.instant)) {
        if (terminal) mark.run(now, sender, taskId);
        const stale = { outcome: "stale", reason: "not_newer", conflict: false, missed: terminal } as const;
        return { applied: false, stale };
      }
      if (terminal && found.missed !== null) clear.run(sender, taskId);
      update.run(instant, status, Number(terminal), sender, taskId);
      // The index on it is rewritten once a day at most, not at every event.
      if (expires - found.expires > DAY_MS) prolong.run(expires, sender, taskId);
      return { applied: true, first: false };
    },
    state(sender, taskId) {
      const row = select.get(sender, taskId);
      return row && { instant: row.instant, status: row.status, terminal: row.terminal === 1, missed: row.missed };
    },
    expire(now, limit) {
      const rows = oldest.all(now, limit);
      for (const { sender, task_id } of rows) remove.run(sender, task_id);
      return rows.length;
    },
  };
}
