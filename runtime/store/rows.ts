/** Rows as both databases give them, and the values made from them. */
import type { EventKind, InboxEvent, InboxState, RegisteredMode, Registration, RouteBinding } from "./types.js";

/** `due` of an event that waits behind another of its task; later than any clock. */
export const BLOCKED_DUE_MS = Number.MAX_SAFE_INTEGER;

/** A task's order is kept this long after its last event: longer than any sender retries and any buyer asks. */
export const RECEIVED_TASK_RETENTION_MS = 90 * 86_400_000;

/** Re-emissions of one `notification_id` are recognised for this long after the last of them. */
export const NOTIFICATION_RETENTION_MS = 90 * 86_400_000;

export const DAY_MS = 86_400_000;

/** Most rows one `sweep` removes of a kind: keeps the pause it makes to a few milliseconds. */
export const SWEEP_LIMIT_ROWS = 500;

/** Parked events that have waited too long, as they are told of. */
export const PARKED = "parked events whose registration never came";

/** Most events one `list` answers. */
export const LIST_LIMIT_ROWS = 1000;

export interface InboxRow {
  id: number;
  state: string;
  url: string;
  key: string;
  route: string;
  kind: string;
  release: string;
  format: string | null;
  task_type: string | null;
  task_id: string | null;
  operation_id: string | null;
  status: string | null;
  instant: string | null;
  notification_id: string | null;
  reemission: number | boolean;
  received_at: number;
  attempts: number;
  due: number;
  error: string | null;
  notes: string;
  traceparent: string | null;
  body: Uint8Array;
}

export const toEvent = (row: InboxRow): InboxEvent => ({
  id: row.id,
  state: row.state as InboxState,
  sender: row.url,
  key: row.key,
  route: row.route,
  kind: row.kind as EventKind,
  release: row.release,
  format: row.format as InboxEvent["format"],
  taskType: row.task_type,
  taskId: row.task_id,
  operationId: row.operation_id,
  status: row.status,
  instant: row.instant,
  notificationId: row.notification_id,
  reemission: Boolean(row.reemission),
  body: row.body,
  receivedAt: row.received_at,
  attempts: row.attempts,
  due: row.due,
  error: row.error,
  notes: JSON.parse(row.notes) as InboxEvent["notes"],
  traceparent: row.traceparent,
});

export interface RegistrationRow {
  route: string;
  operation_id: string;
  sender: string;
  kind: string;
  mode: string;
  format: string | null;
  task_type: string | null;
  token_digest: Uint8Array | null;
  release: string | null;
  events: string | null;
  expires: number | null;
}

export const toRegistration = (row: RegistrationRow): Registration => ({
  route: row.route,
  // SQL cannot have null in a key; the empty string is no operation id.
  operationId: row.operation_id === "" ? null : row.operation_id,
  sender: row.sender,
  kind: row.kind as EventKind,
  mode: row.mode as RegisteredMode,
  format: row.format as Registration["format"],
  taskType: row.task_type,
  tokenDigest: row.token_digest,
  release: row.release,
  events: row.events === null ? null : (JSON.parse(row.events) as string[]),
  expires: row.expires,
});

export const toBinding = (row: RegistrationRow): RouteBinding => ({
  route: row.route,
  sender: row.sender,
  kind: row.kind as EventKind,
  mode: row.mode as RegisteredMode,
  format: row.format as Registration["format"],
  release: row.release,
});

/** A route speaks for one sender, about one kind, in one mode: what does not fit is a mistake, not an update. */
export const conflicts = (binding: RouteBinding, registration: Registration): boolean =>
  binding.sender !== registration.sender ||
  binding.kind !== registration.kind ||
  binding.mode !== registration.mode ||
  binding.format !== registration.format;

/** A parked event meets its registration: wrong token, and it is given up. */
export const TOKEN_ERROR = "the token is not the registration's";
export const UNREGISTERED_ERROR = "no registration came for its operation";

export const tokenFits = (expected: Uint8Array | null, presented: Uint8Array | null): boolean =>
  expected === null || (presented !== null && Buffer.compare(expected, presented) === 0);
