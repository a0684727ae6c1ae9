/** Order of events per task: strictly newer applies, and a terminal state is never left. */
import { sql } from "../../db/postgres/sql.js";
import { RECEIVED_TASK_RETENTION_MS } from "../rows.js";
import type { TaskOrder, TaskState } from "../types.js";
import type { Db, Tx } from "./tables.js";

export type OrderResult =
  | "applied"
  /** Nothing was known of the task before. */
  | "first"
  | { readonly reason: "not_newer" | "terminal"; readonly conflict: boolean; readonly missed: boolean };

export interface TaskKey {
  readonly sender: number;
  readonly taskId: string;
}

/** Applies an event to its task's order. The task's row stays locked: events of one task are accepted one at a time. */
export async function applyOrder(
  tx: Tx,
  { sender, taskId }: TaskKey,
  { instant, status, terminal, by }: TaskOrder,
  now: number,
): Promise<OrderResult> {
  const applied = await sql<{ first: boolean }>`
    insert into adbind_tasks (sender, task_id, instant, status, terminal, expires)
    values (${sender}, ${taskId}, ${instant}, ${status}, ${terminal}, ${now + RECEIVED_TASK_RETENTION_MS})
    on conflict (sender, task_id) do update set
      instant = greatest(adbind_tasks.instant, excluded.instant), status = excluded.status,
      terminal = excluded.terminal, expires = excluded.expires,
      missed = case when excluded.terminal then null else adbind_tasks.missed end
    where not adbind_tasks.terminal and (adbind_tasks.instant < excluded.instant
      or (${by} = 'poll' and excluded.terminal)
      or ${by} = 'arrival')
    returning xmax = 0 as first`.first(tx);
  // A row that was inserted and not updated has no deleting transaction.
  if (applied !== undefined) return applied.first ? "first" : "applied";
  const found = await taskState(tx, { sender, taskId });
  if (found?.terminal) return { reason: "terminal", conflict: terminal && found.status !== status, missed: false };
  // The row is locked by the attempt: what is marked here has not ended meanwhile.
  if (terminal)
    await sql`update adbind_tasks set missed = ${now} where sender = ${sender} and task_id = ${taskId}`.run(tx);
  return { reason: "not_newer", conflict: false, missed: terminal };
}

export const taskState = (db: Db | Tx, { sender, taskId }: TaskKey): Promise<TaskState | undefined> =>
  sql<TaskState>`
    select instant, status, terminal, missed from adbind_tasks where sender = ${sender} and task_id = ${taskId}`.first(
    db,
  );

/** Holds the task's row until the transaction ends, so that accepting and completing its events take turns. */
export async function lockTask(tx: Tx, { sender, taskId }: TaskKey): Promise<void> {
  await sql`select task_id from adbind_tasks where sender = ${sender} and task_id = ${taskId} for update`.run(tx);
}
