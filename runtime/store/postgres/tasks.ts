/** Order of events per task: strictly newer applies, and a terminal state is never left. */
import { TASK_RETENTION_MS } from "../rows.js";
import type { Arrival, TaskState } from "../types.js";
import type { Db, Tx } from "./tables.js";

export type OrderResult = "applied" | { readonly reason: "not_newer" | "terminal"; readonly conflict: boolean };

export interface TaskKey {
  readonly sender: number;
  readonly taskId: string;
}

/** Applies an event to its task's order. The task's row stays locked: events of one task are accepted one at a time. */
export async function applyOrder(
  tx: Tx,
  { sender, taskId }: TaskKey,
  { instant, status, terminal }: NonNullable<Arrival["order"]>,
  now: number,
): Promise<OrderResult> {
  const expires = now + TASK_RETENTION_MS;
  const applied = await tx
    .insertInto("adbind_tasks")
    .values({ sender, task_id: taskId, instant, status, terminal, expires })
    .onConflict((on) =>
      on
        .columns(["sender", "task_id"])
        .doUpdateSet({ instant, status, terminal, expires })
        .where("adbind_tasks.terminal", "=", false)
        .where("adbind_tasks.instant", "<", instant),
    )
    .returning("task_id")
    .executeTakeFirst();
  if (applied !== undefined) return "applied";
  const found = await taskState(tx, { sender, taskId });
  if (found?.terminal) return { reason: "terminal", conflict: terminal && found.status !== status };
  return { reason: "not_newer", conflict: false };
}

export async function taskState(db: Db | Tx, { sender, taskId }: TaskKey): Promise<TaskState | undefined> {
  return db
    .selectFrom("adbind_tasks")
    .select(["instant", "status", "terminal"])
    .where("sender", "=", sender)
    .where("task_id", "=", taskId)
    .executeTakeFirst();
}

/** Holds the task's row until the transaction ends, so that accepting and completing its events take turns. */
export async function lockTask(tx: Tx, { sender, taskId }: TaskKey): Promise<void> {
  await tx
    .selectFrom("adbind_tasks")
    .select("task_id")
    .where("sender", "=", sender)
    .where("task_id", "=", taskId)
    .forUpdate()
    .execute();
}
