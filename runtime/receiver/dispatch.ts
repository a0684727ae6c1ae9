/** From an event of the inbox to the one handler written for it. */
import {
  extra,
  isJsonObject,
  isTaskStatus,
  type JsonObject,
  type Release,
  readWebhookAnswer,
  type TaskEnvelope,
} from "../contract/index.js";
import type { CataloguedEvent } from "../facts/index.js";
import type { Effect, EventKind, InboxEvent } from "../store/types.js";
import { type EventContent, readStored } from "./envelope.js";
import { instantText } from "./instant.js";
import { eventOf } from "./kinds.js";
import type { ReceiverConfig } from "./settings.js";
import type { BoundRelease, DeliveryReport, EventOutcome, ReceivedEvent } from "./types.js";

const deliveryOf = (event: InboxEvent, kind: string | null, body: unknown, signal: AbortSignal): ReceivedEvent => ({
  id: event.id,
  sender: event.sender,
  kind: event.kind,
  event: kind,
  route: event.route,
  idempotencyKey: event.key,
  release: event.release,
  format: event.format,
  taskType: event.taskType,
  taskId: event.taskId,
  operationId: event.operationId,
  status: event.status,
  timestamp: event.instant === null ? null : instantText(event.instant),
  notificationId: event.notificationId,
  reemission: event.reemission,
  receivedAt: event.receivedAt,
  attempt: event.attempts + 1,
  notes: event.notes,
  traceparent: event.traceparent,
  body,
  signal,
});

/**
 * Runs the handler of an event. Rejects or throws as the handler does.
 * @param content its body, where it was read already
 */
export async function runHandler<Tx>(
  config: ReceiverConfig<Tx>,
  event: InboxEvent,
  { content, signal }: { readonly content?: EventContent | undefined; readonly signal: AbortSignal },
): Promise<Effect<Tx> | undefined> {
  const { body, payload } = content ?? readStored(event);
  // A release that is no longer configured cannot read its events: a human decides, the fallback is not asked to guess.
  const bound = config.releases.get(event.release);
  if (bound === undefined) throw new Error(`no release ${event.release} is configured`);
  const known = eventOf(bound.release, event.kind, body);
  const word = typeof known === "string" ? known : (known?.kind ?? null);
  const outcome = await select(bound, { ...event, payload }, deliveryOf(event, word, body, signal), known);
  return outcome ?? undefined;
}

/** An event with what its body carries. */
type ReadEvent = InboxEvent & Pick<EventContent, "payload">;

/** What an event of another kind than a task is about: where it stands in `result`, that; else the whole body. */
export function dataOf(kind: Exclude<EventKind, "task">, body: JsonObject): JsonObject {
  const wrapped = kind === "report" || kind === "impairment";
  return wrapped && isJsonObject(body.result) ? body.result : body;
}

function select<Tx>(
  bound: BoundRelease<Tx>,
  event: ReadEvent,
  delivery: ReceivedEvent,
  known: CataloguedEvent | string | undefined,
): EventOutcome<Tx> {
  const { handlers } = bound;
  const { kind } = event;
  if (kind === "task") return runTask(bound, event, delivery);
  const flat = isJsonObject(delivery.body) ? delivery.body : {};
  if (handlers.events !== undefined && typeof known === "object") {
    const handler = extra(handlers.events, known.kind);
    const within = known.within === "result" && isJsonObject(flat.result) ? flat.result : flat;
    if (typeof handler === "function") return handler(within, delivery);
  }
  const data = dataOf(kind, flat);
  switch (kind) {
    case "report":
      return handlers.report ? handlers.report(data as DeliveryReport, delivery) : handlers.fallback(delivery);
    case "impairment":
      return handlers.impairment ? handlers.impairment(data, delivery) : handlers.fallback(delivery);
    case "list_change":
      return handlers.listChange ? handlers.listChange(data, delivery) : handlers.fallback(delivery);
    case "artifact":
      return handlers.artifact ? handlers.artifact(data, delivery) : handlers.fallback(delivery);
    case "rights":
      return handlers.rights ? handlers.rights(data, delivery) : handlers.fallback(delivery);
    case "account":
    case "agent":
      return handlers.fallback(delivery);
  }
}

type AnyHandler<Tx> = (data: unknown, answer: unknown, delivery: ReceivedEvent) => EventOutcome<Tx>;

/** The handler of the tool's arm; the fallback for a tool without handlers, and for a status its release gives no arm. */
function runTask<Tx>(
  { release, handlers }: BoundRelease<Tx>,
  event: ReadEvent,
  delivery: ReceivedEvent,
): EventOutcome<Tx> {
  const { taskType, status } = event;
  const arms = taskType === null ? undefined : extra(handlers.tools, taskType);
  const handler = status === null || !isTaskStatus(status) ? undefined : extra(arms, status);
  if (typeof handler !== "function") return handlers.fallback(delivery);
  const answer = answerOf(release, event, delivery.body);
  if (answer === undefined) return handlers.fallback(delivery);
  return (handler as AnyHandler<Tx>)(answer.data, answer, delivery);
}

type AboutTask = Pick<ReadEvent, "taskType" | "status" | "format" | "taskId" | "payload">;

/** A task's event as its tool's answer; undefined where the release has no such tool, or the tool no such status. */
export function answerOf(release: Release, event: AboutTask, body: unknown): { readonly data: unknown } | undefined {
  const { taskType, status } = event;
  if (taskType === null || !Object.hasOwn(release.tools, taskType)) return undefined;
  const tool = release.tools[taskType]!;
  if (!isTaskStatus(status) || !Object.hasOwn(tool.arms, status)) return undefined;
  return readWebhookAnswer(tool, envelopeOf(event, body), release.word) as { data: unknown };
}

/** A task's event as the envelope the contract reads, whichever shape it came in. */
const envelopeOf = ({ format, status, taskId, payload }: AboutTask, body: unknown): TaskEnvelope => {
  if (format !== "a2a") return body as JsonObject as TaskEnvelope;
  return {
    status: status!,
    ...(taskId !== null && { task_id: taskId }),
    result: payload?.data ?? {},
  };
};
