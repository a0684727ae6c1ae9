/**
 * The envelope of each kind of webhook: what must be there, named when it is not (docs/protocol/webhooks.md#envelope).
 * Unknown fields pass; the result is judged elsewhere.
 */
import { hash } from "node:crypto";
import { isTaskStatus, isTerminal, type JsonObject } from "../contract/index.js";
import { isStorableId } from "../contract/storable-id.js";
import { a2aState, unwrapA2a } from "../extract/a2a.js";
import { isJsonObject, member } from "../extract/json-object.js";
import { detectFormat, extractWebhook, type WebhookExtraction, type WebhookFormat } from "../extract/webhook.js";
import { registeredEvents } from "../facts/index.js";
import { toInstant } from "../moment.js";
import type { EventKind, InboxEvent } from "../store/types.js";
import { type EventTime, timeAt, timeOf } from "./instant.js";

/** What the receiver needs of a body, whatever its kind and shape. */
export interface Envelope {
  readonly key: string;
  readonly format: WebhookFormat | null;
  readonly taskId: string | null;
  readonly taskType: string | null;
  readonly operationId: string | null;
  readonly status: string | null;
  /** When it happened, and by whose word; null where its kind needs no time. */
  readonly time: EventTime | null;
  readonly notificationId: string | null;
  readonly token: string | null;
  /** Events of its task come in an order, and it has a place in it. */
  readonly ordered: boolean;
  readonly terminal: boolean;
  /** What a task's event carries; null of every other kind. */
  readonly payload: WebhookExtraction | null;
}

/** A body, and what was found in it: carried from its arrival to its handler, so that it is looked through once. */
export interface EventContent {
  /** Parsed. */
  readonly body: unknown;
  readonly payload: WebhookExtraction | null;
}

/** What an event carries, by its kind and shape; what has no shape is read as MCP has it. */
export const payloadOf = (body: unknown, kind: EventKind, format: WebhookFormat | null): WebhookExtraction | null =>
  kind === "task" ? extractWebhook(body, format ?? "mcp") : null;

/** Of an event that is in the store: it was strict JSON when it was accepted. */
export function readStored({ body: raw, kind, format }: Pick<InboxEvent, "body" | "kind" | "format">): EventContent {
  const body: unknown = JSON.parse(Buffer.from(raw).toString());
  return { body, payload: payloadOf(body, kind, format) };
}

/** Why a body is no event. */
export type EnvelopeCode =
  | "body_not_object"
  | "missing_idempotency_key"
  | "missing_envelope_fields"
  | "invalid_envelope_status"
  | "invalid_envelope_fields"
  | "unsupported_event";

export type EnvelopeResult =
  | { readonly ok: true; readonly envelope: Envelope }
  | { readonly ok: false; readonly code: EnvelopeCode; readonly fields: readonly string[] };

/**
 * Statuses as events of tasks have them: published enumerations list two that are none of a task's own
 * (docs/protocol/tasks.md#statuses), and a webhook by its release is not refused.
 */
function isToldStatus(value: unknown): value is string {
  return isTaskStatus(value) || value === "auth-required" || value === "unknown";
}

/** docs/protocol/webhooks.md#envelope. */
const idempotencyKey = /^[A-Za-z0-9_.:-]{16,255}$/;

const checks: Record<string, (value: unknown) => boolean> = {
  idempotency_key: (value) => typeof value === "string" && idempotencyKey.test(value),
  task_id: isStorableId,
  task_type: isStorableId,
  status: isToldStatus,
  timestamp: (value) => toInstant(value) !== undefined,
  operation_id: isStorableId,
  notification_id: isStorableId,
  token: (value) => typeof value === "string",
  artifacts: (value) => typeof value === "object" && value !== null,
};

const optional = ["operation_id", "notification_id", "token"] as const;

const absent = (body: JsonObject, field: string): boolean => member(body, field) == null;

export interface EnvelopeContext {
  readonly kind: EventKind;
  /** The registration's shape, or null to detect it. */
  readonly format: WebhookFormat | null;
  /** Unix milliseconds. */
  readonly now: number;
  /** The body's bytes; an A2A event without a key is known by them. */
  readonly raw: Uint8Array;
}

/** Reads the envelope of a body, or says what it lacks. */
export function readEnvelope(body: unknown, context: EnvelopeContext): EnvelopeResult {
  if (!isJsonObject(body)) return { ok: false, code: "body_not_object", fields: [] };
  const format = context.format ?? detectFormat(body);
  return context.kind === "task" && format === "a2a" ? readTask(body, context) : readFlat(body, context, format);
}

function readFlat(body: JsonObject, { kind, now }: EnvelopeContext, format: WebhookFormat | null): EnvelopeResult {
  const missing = registeredEvents[kind].knownBy.filter((field) => absent(body, field));
  if (missing.length > 0) {
    const keyOnly = missing.length === 1 && missing[0] === "idempotency_key";
    return { ok: false, code: keyOnly ? "missing_idempotency_key" : "missing_envelope_fields", fields: missing };
  }
  const known = [...registeredEvents[kind].knownBy, ...optional.filter((field) => !absent(body, field))];
  const invalid = known.filter((field) => !(checks[field] ?? isStorableId)(body[field]));
  if (invalid.length > 0) {
    const statusOnly = invalid.length === 1 && invalid[0] === "status";
    return { ok: false, code: statusOnly ? "invalid_envelope_status" : "invalid_envelope_fields", fields: invalid };
  }
  const status = isToldStatus(body.status) ? body.status : null;
  const envelope: Envelope = {
    key: body.idempotency_key as string,
    format,
    taskId: id(body.task_id),
    taskType: id(body.task_type),
    operationId: id(body.operation_id),
    status,
    time: timeIn(body, now),
    notificationId: notificationIdOf(body, kind),
    token: typeof body.token === "string" ? body.token : null,
    // A report's status is that of its own fire: in a task's order the first would end all that follow.
    ordered: kind === "task" && status !== "unknown",
    terminal: isTaskStatus(status) && isTerminal(status),
    payload: payloadOf(body, kind, format),
  };
  return { ok: true, envelope };
}

/** When a body was made, by whichever of its members says so. */
function timeIn(body: JsonObject, now: number): EventTime | null {
  const said = toInstant(body.timestamp) ?? toInstant(body.fired_at);
  return said === undefined ? null : timeAt(said, now);
}

const id = (value: unknown): string | null => (isStorableId(value) ? value : null);

const notificationIdOf = (body: JsonObject, kind: EventKind): string | null => {
  const places = [body.notification_id, member(body.result, "notification_id")];
  if (kind === "impairment") places.push(body.impairment_id, member(body.result, "impairment_id"));
  return places.find(isStorableId) ?? null;
};

/** A push of A2A has no field for the token of a protocol's config: it stands in `metadata`, else in A2A's own header. */
function tokenIn(metadata: unknown): string | null {
  const token = member(metadata, "token");
  return typeof token === "string" ? token : null;
}

/** Tasks and their events as A2A pushes them: their identifiers are A2A's, the key may stand in `metadata`. */
function readTask(body: JsonObject, { now, raw }: EnvelopeContext): EnvelopeResult {
  const { event, wrapper } = unwrapA2a(body);
  if (!isJsonObject(event) || wrapper === "message") return { ok: false, code: "unsupported_event", fields: [] };
  const metadata = member(event, "metadata");
  const pick = (name: string): unknown => event[name] ?? member(metadata, name);
  const taskId = wrapper === "statusUpdate" || wrapper === "artifactUpdate" ? event.taskId : (event.taskId ?? event.id);
  if (taskId == null) return { ok: false, code: "missing_envelope_fields", fields: ["id"] };
  const key = pick("idempotency_key") ?? `a2a:${hash("sha256", raw, "base64url")}`;
  const given = { id: taskId, idempotency_key: key, operation_id: pick("operation_id") };
  const invalid = Object.entries(given)
    .filter(([name, value]) => value != null && !(checks[name] ?? isStorableId)(value))
    .map(([name]) => name);
  if (invalid.length > 0) return { ok: false, code: "invalid_envelope_fields", fields: invalid };
  const state = a2aState(event);
  const envelope: Envelope = {
    key: key as string,
    format: "a2a",
    taskId: taskId as string,
    taskType: id(pick("task_type")),
    operationId: id(given.operation_id),
    status: state,
    // A2A need not say when; then the order is that of arrival.
    time: timeOf(member(event.status, "timestamp"), now),
    notificationId: id(pick("notification_id")),
    token: tokenIn(metadata),
    ordered: state !== null,
    terminal: isTaskStatus(state) && isTerminal(state),
    payload: payloadOf(body, "task", "a2a"),
  };
  return { ok: true, envelope };
}
