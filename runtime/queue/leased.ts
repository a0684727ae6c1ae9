/** Jobs as leases find them, whatever the engine. */
import type { JobRow } from "./job-rows.js";
import type { Job, JobTask } from "./jobs.js";

/** What is not the same for all that are leased in one go. */
export interface LeasedColumns extends Omit<JobRow, "topic" | "state" | "due" | "started_at" | "token" | "id"> {
  /** The body, where it is nothing but ASCII and comes as text. */
  readonly plain?: string | null;
}

/** The task in whose order a job goes; null where it goes in none's. */
export interface LeasedTask {
  readonly task_id: string | null;
  readonly task_principal: string;
  readonly task_status: string;
  readonly task_details: string;
}

export type LeasedJobRow = LeasedColumns & { readonly id: number };
export const isJob = <Row extends { readonly id: number | null }>(row: Row): row is Row & LeasedJobRow =>
  row.id !== null;

export const jobIn = (
  row: LeasedJobRow,
  leased: Pick<Job, "topic" | "state" | "due" | "startedAt" | "token">,
  task?: JobTask,
): Job => ({
  ...leased,
  task,
  id: row.id,
  key: row.key,
  endpoint: row.endpoint,
  orderingKey: row.ordering_key,
  attempts: row.attempts,
  createdAt: row.created_at,
  firstAt: row.first_at ?? leased.startedAt,
  error: row.error,
  meta: row.meta ?? "",
  body: row.plain == null ? (row.body ?? new Uint8Array()) : Buffer.from(row.plain, "latin1"),
});

/** @param lookedAt as `performance.now()` says it */
export function taskIn(row: LeasedTask, lookedAt: number): JobTask | undefined {
  if (row.task_id === null) return undefined;
  const { task_id, task_principal: principal, task_status: status, task_details: details } = row;
  return { task_id, principal, status, details, lookedAt };
}
