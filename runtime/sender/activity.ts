/** `webhook_activity[]`: what was fired, attempt by attempt, for the principal it was fired for. For debugging, not recovery. */
import type { Job, JobUnderWay } from "../queue/types.js";
import type { ActivityRow } from "../store/sender-activity.js";
import type { AttemptReport, AttemptStatus, DeliveryMeta } from "./attempt.js";
import { type AnswerExcerpt, redactUrl } from "./redact.js";

/** An entry as it goes into `webhook_activity[]` (docs/protocol/webhooks.md#activity). */
export interface ActivityRecord {
  readonly idempotency_key: string;
  readonly notification_type: string;
  readonly status: AttemptStatus | "pending";
  /** From 1. */
  readonly attempt: number;
  readonly fired_at: string;
  readonly completed_at: string | null;
  readonly http_status_code: number | null;
  readonly response_time_ms: number | null;
  readonly error_message: string | null;
  readonly payload_size_bytes?: number;
  readonly sequence_number?: number;
  /** Of what a config is told: what happened, and which config. */
  readonly notification_id?: string;
  readonly subscriber_id?: string;
  /** Without query, fragment and secrets. */
  readonly url: string;
}

/** As it is kept: with the receiver's answer, which is for operators. */
export interface StoredRecord extends ActivityRecord {
  readonly answer?: AnswerExcerpt | undefined;
}

type Undefinable<T> = { readonly [K in keyof T]: T[K] | undefined };

/** What a principal is shown of it. */
export function shownRecord(text: string): ActivityRecord {
  const { answer: _answer, ...record } = JSON.parse(text) as StoredRecord;
  return record;
}

const DAY_MS = 86_400_000;
/** Writes times of which many in a row are the same: attempts by the hundred begin, and end, in one millisecond. */
function isoWriter(): (ms: number) => string {
  let last = { ms: Number.NaN, text: "" };
  return (ms) => {
    if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
    return last.text;
  };
}

const [began, ended] = [isoWriter(), isoWriter()];

/** @param days how long it is kept after its completion */
export function activityRow(
  job: Job,
  { report, url, meta }: { readonly report: AttemptReport; readonly url: string; readonly meta: DeliveryMeta },
  now: number,
  days: number,
): ActivityRow {
  // Members that are undefined are none in JSON; spreading one by one would cost more than writing all of it.
  const record: Undefinable<StoredRecord> = {
    idempotency_key: job.key,
    notification_type: meta.type,
    status: report.status,
    attempt: job.attempts + 1,
    fired_at: began(job.startedAt),
    completed_at: ended(now),
    http_status_code: report.httpStatus,
    response_time_ms: report.responseMs,
    error_message: report.error,
    payload_size_bytes: report.bytes,
    sequence_number: meta.sequence,
    notification_id: meta.notificationId,
    subscriber_id: meta.subscriberId,
    url: redactUrl(url),
    answer: report.answer,
  };
  return {
    principal: meta.principal,
    subject: meta.subject,
    record: JSON.stringify(record),
    // At the end of a day, and within it: rows of one day expire together, and what is kept by days is over when its day is.
    expires: (Math.floor(now / DAY_MS) + days + 1) * DAY_MS - 1,
  };
}

/** An attempt that is under way. */
export function pendingRecord(job: JobUnderWay, meta: DeliveryMeta): ActivityRecord {
  return {
    idempotency_key: job.key,
    notification_type: meta.type,
    status: "pending",
    attempt: job.attempts + 1,
    fired_at: began(job.startedAt),
    completed_at: null,
    http_status_code: null,
    response_time_ms: null,
    error_message: null,
    ...(meta.sequence !== undefined && { sequence_number: meta.sequence }),
    url: redactUrl(meta.url),
  };
}
