/** Rows of jobs as they are read for operators: one with its body, many without. */
import { BEHIND_DUE_MS, type JobRecord, type JobState, type ListedJob } from "./jobs.js";

export interface JobRow {
  id: number;
  topic: string;
  key: string;
  endpoint: string;
  ordering_key: string | null;
  state: string;
  due: number;
  attempts: number;
  created_at: number;
  first_at: number | null;
  started_at: number | null;
  token: string | null;
  error: string | null;
  /** Of a row by itself; null where somebody else's hand has removed it. */
  meta: string | null;
  body: Uint8Array | null;
}

/** Others may wait for it under its ordering key: not for what has ended, nor for what waits itself. */
export const mayHoldOthers = (row: Pick<JobRow, "ordering_key" | "attempts" | "state" | "due">): boolean =>
  row.ordering_key !== null && row.attempts === 0 && row.state === "ready" && row.due !== BEHIND_DUE_MS;

/** What a list has of a body in `b`: nothing of it is read. One text for every engine. */
export const LISTED_BODY = "b.meta, octet_length(b.body) as bytes";

export interface ListedRow extends Omit<JobRow, "body"> {
  /** Null as its meta is. */
  bytes: number | null;
}

const recordOf = (row: Omit<JobRow, "body">) => ({
  id: row.id,
  topic: row.topic,
  key: row.key,
  endpoint: row.endpoint,
  orderingKey: row.ordering_key,
  state: row.state as JobState,
  due: row.due,
  attempts: row.attempts,
  createdAt: row.created_at,
  firstAt: row.first_at,
  startedAt: row.started_at,
  error: row.error,
  meta: row.meta ?? "",
});

export const toListedJob = (row: ListedRow): ListedJob => ({ ...recordOf(row), bytes: row.bytes ?? 0 });

export const toJobRecord = (row: JobRow): JobRecord => ({ ...recordOf(row), body: row.body ?? new Uint8Array() });
