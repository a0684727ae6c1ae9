/** Bodies of task events: serialised once, compactly; every attempt sends the same bytes. */
import { isJsonObject, isTerminal, type JsonObject, type TaskStatus } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { MAX_DEPTH_LEVELS, strictFault } from "../json.js";

/** Receivers refuse more (docs/protocol/webhooks.md#limits). */
const MAX_BODY_BYTES = 1_048_576;
/** Left for a token, which is put in when it is sent: 4,096 characters of six bytes each at most, and its name. */
export const TOKEN_BYTES = 24_588;

export interface TaskEvent {
  readonly key: string;
  readonly taskId: string;
  readonly tool: string;
  /** Protocol surface of the tool, under the name that the release has for it. */
  readonly surface: JsonObject;
  readonly status: TaskStatus;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly operationId: string | undefined;
  readonly contextId: string | undefined;
  readonly context: JsonObject | undefined;
  readonly message: string | undefined;
  readonly result: unknown;
}

/** @throws AdbindError `event_invalid` for what has no JSON form: one inside itself, a BigInt, a `toJSON` that throws */
export function jsonOf(value: JsonObject, what: string): string {
  const noForm = (cause?: unknown) =>
    new AdbindError("event_invalid", "an event has no JSON form", { where: what, remedy: "send plain data", cause });
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw noForm(cause);
  }
  if (text === undefined) throw noForm();
  return text;
}

const BRACKETS = ["[", "{"] as const;

function opensMore(json: string, most: number): boolean {
  let opened = 0;
  for (const bracket of BRACKETS)
    for (let at = json.indexOf(bracket); at >= 0; at = json.indexOf(bracket, at + 1)) if (++opened > most) return true;
  return false;
}

/** Does a JSON document nest deeper than so many levels? What opens so few brackets, as almost all do, is not looked through. */
export const nestsDeeper = (json: string, levels: number): boolean =>
  opensMore(json, levels) && strictFault(Buffer.from(json), levels)?.reason === "depth";

/**
 * A JSON document, as text until it is sent: what is written as bytes and read again for the database costs as much as all else.
 * @param reserved bytes that are added to it later
 * @throws AdbindError `event_invalid` when it is larger or nests deeper than receivers take, or has no JSON form
 */
export function encodeBody(value: JsonObject, what: string, reserved = 0): string {
  const text = jsonOf(value, what);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BODY_BYTES - reserved) {
    throw new AdbindError("event_invalid", `an event of ${bytes} bytes is larger than receivers take`, {
      where: what,
      remedy: `keep it under ${MAX_BODY_BYTES - reserved} bytes, and let the rest be read from the task`,
    });
  }
  if (nestsDeeper(text, MAX_DEPTH_LEVELS)) {
    throw new AdbindError("event_invalid", `an event nests deeper than ${MAX_DEPTH_LEVELS} levels`, {
      where: what,
      remedy: "nobody takes it so, and it cannot be signed: let the rest be read from the task",
    });
  }
  return text;
}

/** A body of `encodeBody` with a token as its last member: the same bytes each time, for the same token. */
export function withToken(body: Uint8Array, token: string): Uint8Array {
  const members = JSON.parse(new TextDecoder().decode(body)) as JsonObject;
  return new TextEncoder().encode(JSON.stringify({ ...members, token }));
}

/** docs/protocol/webhooks.md#envelope. What is undefined stays out. */
export const mcpEnvelope = (event: TaskEvent): JsonObject => ({
  idempotency_key: event.key,
  operation_id: event.operationId,
  task_id: event.taskId,
  task_type: event.tool,
  ...event.surface,
  status: event.status,
  timestamp: event.timestamp,
  context_id: event.contextId,
  message: event.message,
  result: event.result ?? undefined,
  context: event.context,
});

const partsOf = ({ message, result }: TaskEvent): JsonObject[] => [
  ...(message === undefined ? [] : [{ kind: "text", text: message }]),
  ...(result == null ? [] : [{ kind: "data", data: result }]),
];

/** A2A 0.3: a Task once it is over, a TaskStatusUpdateEvent before (docs/protocol/transports.md#a2a-tasks). */
export function a2aEvent(event: TaskEvent): JsonObject {
  const { taskId, status, timestamp, key, operationId, context } = event;
  const contextId = event.contextId ?? taskId;
  const metadata = { idempotency_key: key, operation_id: operationId, context };
  const parts = partsOf(event);
  if (isTerminal(status)) {
    const artifacts = parts.length === 0 ? [] : [{ artifactId: `${taskId}-result`, parts }];
    const said = isJsonObject(event.result) ? event.result : {};
    // A seller that has declined has answered: its transport's task is done. With errors it has refused.
    const declined = status === "rejected" && said.status === status && said.errors === undefined;
    const state = declined ? "completed" : status;
    return { kind: "task", id: taskId, contextId, status: { state, timestamp }, artifacts, metadata };
  }
  const message = { kind: "message", messageId: key, role: "agent", taskId, contextId, parts };
  return {
    kind: "status-update",
    taskId,
    contextId,
    status: { state: status, timestamp, ...(parts.length > 0 && { message }) },
    final: false,
    metadata,
  };
}
