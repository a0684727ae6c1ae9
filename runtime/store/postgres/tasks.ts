/** Order of events per task: strictly newer applies, and a terminal state is never left. */
import { type Sql, sql } from "../../db/postgres/sql.js";
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

/** A task of one operation. */
interface OperationTask extends TaskKey {
  readonly operationId?: string | null | undefined;
}

type KeptState = TaskState & { readonly operation_id: string | null };

const TAKEN = sql`
  instant = greatest(kept.instant, excluded.instant), status = excluded.status, terminal = excluded.terminal,
  expires = excluded.expires, missed = case when excluded.terminal then null else kept.missed end`;

const applies = (by: TaskOrder["by"]): Sql<never> => sql`
  not kept.terminal and (kept.instant < excluded.instant or (${by} = 'poll' and excluded.terminal) or ${by} = 'arrival')`;

/** Applies an event to its task's order. The task's row stays locked: events of one task are accepted one at a time. */
export async function applyOrder(
  tx: Tx,
  { sender, taskId, operationId = null }: OperationTask,
  order: TaskOrder,
  now: number,
): Promise<OrderResult> {
  const { instant, status, terminal, by } = order;
  const expires = now + RECEIVED_TASK_RETENTION_MS;
  const applied = await sql<{ first: boolean }>`
    insert into adbind_tasks as kept (sender, task_id, operation_id, instant, status, terminal, expires)
    values (${sender}, ${taskId}, ${operationId}, ${instant}, ${status}, ${terminal}, ${expires})
    on conflict (sender, task_id) do update set
      operation_id = coalesce(kept.operation_id, excluded.operation_id), ${TAKEN}
    where coalesce(kept.operation_id = excluded.operation_id, true) and ${applies(by)}
    returning xmax = 0 as first`.first(tx);
  // A row that was inserted and not updated has no deleting transaction.
  if (applied !== undefined) return applied.first ? "first" : "applied";
  const found = await sql<KeptState>`
    select instant, status, terminal, missed, operation_id from adbind_tasks
    where sender = ${sender} and task_id = ${taskId}`.first(tx);
  if (operationId !== null && found?.operation_id != null && found.operation_id !== operationId) {
    return applyBeside(tx, { sender, taskId, operationId }, order, expires);
  }
  const stale = staleOf(found, order);
  // The row is locked by the attempt: what is marked here has not ended meanwhile.
  if (stale.missed)
    await sql`update adbind_tasks set missed = ${now} where sender = ${sender} and task_id = ${taskId}`.run(tx);
  return stale;
}

/** As `applyOrder`, of an operation whose task has an id that another's had before. */
async function applyBeside(
  tx: Tx,
  { sender, taskId, operationId }: TaskKey & { readonly operationId: string },
  order: TaskOrder,
  expires: number,
): Promise<OrderResult> {
  const { instant, status, terminal, by } = order;
  // It is what both are locked by, and there as long as either.
  await sql`
    update adbind_tasks set expires = greatest(expires, ${expires}) where sender = ${sender} and task_id = ${taskId}`.run(
    tx,
  );
  const applied = await sql<{ first: boolean }>`
    insert into adbind_task_operations as kept (sender, task_id, operation_id, instant, status, terminal, expires)
    values (${sender}, ${taskId}, ${operationId}, ${instant}, ${status}, ${terminal}, ${expires})
    on conflict (sender, task_id, operation_id) do update set ${TAKEN}
    where ${applies(by)}
    returning xmax = 0 as first`.first(tx);
  if (applied !== undefined) return applied.first ? "first" : "applied";
  const stale = staleOf(await taskState(tx, { sender, taskId, operationId }), order);
  if (stale.missed)
    await sql`
      update adbind_task_operations set missed = ${expires - RECEIVED_TASK_RETENTION_MS}
      where sender = ${sender} and task_id = ${taskId} and operation_id = ${operationId}`.run(tx);
  return stale;
}

const staleOf = (found: TaskState | undefined, { status, terminal }: TaskOrder): Exclude<OrderResult, string> =>
  found?.terminal
    ? { reason: "terminal", conflict: terminal && found.status !== status, missed: false }
    : { reason: "not_newer", conflict: false, missed: terminal };

export const taskState = (
  db: Db | Tx,
  { sender, taskId, operationId = null }: OperationTask,
): Promise<TaskState | undefined> =>
  sql<TaskState>`
    select instant, status, terminal, missed from adbind_tasks
    where sender = ${sender} and task_id = ${taskId} and coalesce(operation_id = ${operationId}::text, true)
    union all
    select instant, status, terminal, missed from adbind_task_operations
    where sender = ${sender} and task_id = ${taskId} and operation_id = ${operationId}::text`.first(db);

/** Holds the task's row until the transaction ends, so that accepting and completing its events take turns. */
export async function lockTask(tx: Tx, { sender, taskId }: TaskKey): Promise<void> {
  await sql`select task_id from adbind_tasks where sender = ${sender} and task_id = ${taskId} for update`.run(tx);
}
