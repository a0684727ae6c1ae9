/** Payloads of the wire, read as one of a tool's answers. Nothing is validated here: `adbind/validate` does that. */
import type { Answer } from "./answer.js";
import { type Failure, failureOf } from "./failure.js";
import { isJsonObject, type JsonObject } from "./json-object.js";
import { isFailing, isInterim, isTaskStatus, type TaskStatus } from "./status.js";
import type { AnyTool, ArmsOf } from "./tool.js";
import { wireNames } from "./wire-names.js";

/** Fields any answer may have that say nothing about success: the envelope's, and the usual companions of `errors`. */
export const answerFields: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "errors",
  "success",
  "status",
  "message",
  "task_id",
  "context_id",
  "context",
  "timestamp",
  "replayed",
  "governance_context",
  "push_notification_config",
  "sandbox",
  "ext",
]);

/** What a transport says of an answer by its own means, beside the payload (A2A: its task and context). */
export interface TransportFacts {
  /** Where the payload names no status of its own, this is the answer's. */
  readonly status?: TaskStatus | undefined;
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
}

/** Code of the failure that a `submitted` answer without a task id is read as. */
export const TASK_ID_MISSING = "TASK_ID_MISSING";

/** Code of the failure that an answer is read as whose status is none of its tool's, and that neither has data nor names a task. */
export const STATUS_UNKNOWN = "STATUS_UNKNOWN";

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const hasData = (tool: AnyTool, payload: JsonObject, word: string): boolean =>
  Object.keys(payload).some(
    (key) => !answerFields.has(key) && !key.startsWith(`${word}_`) && !(tool.failureFields ?? []).includes(key),
  );

/** Nothing but errors is in it, though their list may be empty. */
const errorsAlone = (tool: AnyTool, payload: JsonObject, word: string): payload is JsonObject & { errors: unknown[] } =>
  Array.isArray(payload.errors) && !hasData(tool, payload, word);

/**
 * An answer of errors and nothing else has failed, whatever it calls itself: it names no task that could go on, and says of no
 * success. Where a branch of the response demands errors, the list may be empty too: `completed` has no type for it.
 */
const isErrorsBranch = (tool: AnyTool, payload: JsonObject, word: string): boolean =>
  errorsAlone(tool, payload, word) &&
  (tool.failureFields !== undefined || payload.errors.length > 0) &&
  !text(payload.task_id) &&
  payload.success !== true;

/**
 * Status of a synchronous answer (docs/protocol/tasks.md#synchronous-answers): the payload's own `status` where the schema
 * types it as a task status; else failed for errors without data, else completed. One that is none of the tool's says at least
 * that nothing is done where there is no data: the task is asked.
 */
function statedStatus(tool: AnyTool, payload: JsonObject, word: string): TaskStatus | typeof STATUS_UNKNOWN {
  const { status: own, task_id: taskId } = payload;
  const errors = isErrorsBranch(tool, payload, word);
  if (isTaskStatus(own) && tool.statuses.includes(own) && !(errors && !isFailing(own))) return own;
  if (errors || isJsonObject(payload[wireNames(word).error])) return "failed";
  if (typeof own !== "string" || !tool.statuses.includes("completed") || hasData(tool, payload, word))
    return "completed";
  const at = own === "auth-required" ? "input-required" : "working";
  return text(taskId) && tool.statuses.includes(at) ? at : STATUS_UNKNOWN;
}

/** A task that its transport calls failed has failed, and one at work whose data names no status is at work. */
function statusOf(stated: TaskStatus, transport: TaskStatus | undefined): TaskStatus {
  if (transport === undefined) return stated;
  if (isFailing(transport) && !isFailing(stated)) return transport;
  return isInterim(transport) && stated === "completed" ? transport : stated;
}

/** The members of a payload that belong to the answer as a whole, not to its data. */
const companions = (source: JsonObject, transport: TransportFacts) => {
  const taskId = text(source.task_id) || transport.taskId || undefined;
  const contextId = transport.contextId ?? text(source.context_id);
  const message = text(source.message);
  return {
    ...(taskId !== undefined && { taskId }),
    ...(contextId !== undefined && { contextId }),
    ...(isJsonObject(source.context) && { context: source.context }),
    ...(message !== undefined && { message }),
  };
};

/** What an answer lacks that nothing can be told of. */
const lacking = {
  [TASK_ID_MISSING]: {
    message: "The answer is submitted and names no task: its task_id is missing, so the task cannot be followed",
    field: "task_id",
  },
  [STATUS_UNKNOWN]: {
    message: "The answer has a status that its tool does not give, no data, and names no task",
    field: "status",
  },
} as const;

const suggestion = "Ask the agent what became of the request before it is sent again.";

/** Somebody may be at work on the task, and nobody can ask for it: a person has to. */
function unclear<Arms>(code: keyof typeof lacking, raw: unknown, parts: ReturnType<typeof companions>): Answer<Arms> {
  const data: Failure = { errors: [{ code, ...lacking[code], suggestion, recovery: "terminal" }], raw };
  return { ...parts, status: "failed", data } as Answer<Arms>;
}

/** Whether a failure was read from an answer that does not tell whether somebody is at work on its task. */
export const isUnclear = ({ errors }: Failure): boolean => errors.some(({ code }) => Object.hasOwn(lacking, code));

const makeAnswer = <Arms>(
  status: TaskStatus | typeof STATUS_UNKNOWN,
  data: unknown,
  parts: ReturnType<typeof companions>,
  word: string,
): Answer<Arms> => {
  if (status === STATUS_UNKNOWN) return unclear(STATUS_UNKNOWN, data, parts);
  if (status === "submitted" && parts.taskId === undefined) return unclear(TASK_ID_MISSING, data, parts);
  return { status, data: isFailing(status) ? failureOf(data, word) : data, ...parts } as Answer<Arms>;
};

/**
 * Reads the payload of a synchronous response (MCP `structuredContent`, A2A data part) as one of the tool's answers.
 * One that is submitted and names no task is `failed`, with the code `TASK_ID_MISSING`; one without data whose status is none of
 * the tool's is at work where it names a task, and else `failed` with `STATUS_UNKNOWN`.
 * @param word the release's protocol word
 * @param transport what the transport says beside the payload
 */
export function readAnswer<T extends AnyTool>(
  tool: T,
  payload: JsonObject,
  word: string,
  transport: TransportFacts = {},
): Answer<ArmsOf<T>> {
  const stated = statedStatus(tool, payload, word);
  const status = stated === STATUS_UNKNOWN ? (transport.status ?? stated) : statusOf(stated, transport.status);
  return makeAnswer(status, payload, companions(payload, transport), word);
}

/** A task webhook's envelope, as far as an answer needs it (docs/protocol/webhooks.md#envelope). */
export interface TaskEnvelope {
  status: string;
  task_id?: string;
  context_id?: string;
  message?: string;
  context?: unknown;
  result?: unknown;
  [extra: string]: unknown;
}

/**
 * Reads a task webhook as an answer of the same tool, so that one handler serves both. A task that is called completed,
 * and whose result is errors alone, has failed, as it has in a synchronous answer.
 */
export function readWebhookAnswer<T extends AnyTool>(tool: T, envelope: TaskEnvelope, word: string): Answer<ArmsOf<T>> {
  const result = envelope.result ?? {};
  const failed = envelope.status === "completed" && isJsonObject(result) && isErrorsBranch(tool, result, word);
  return makeAnswer(failed ? "failed" : (envelope.status as TaskStatus), result, companions(envelope, {}), word);
}
