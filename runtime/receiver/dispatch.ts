/** From an event of the inbox to the one handler written for it. */
import { isTaskStatus, type JsonObject, readWebhookAnswer, type TaskEnvelope } from "../contract/index.js";
import { isJsonObject, member } from "../extract/json-object.js";
import { extractWebhook } from "../extract/webhook.js";
import type { CataloguedEvent } from "../facts/index.js";
import type { Effect, InboxEvent } from "../store/types.js";
import { instantText } from "./instant.js";
import { eventOf } from "./kinds.js";
import type { ReceiverConfig } from "./settings.js";
import type { BoundRelease, Delivery, DeliveryReport, Outcome } from "./types.js";

const deliveryOf = (event: InboxEvent, kind: string | null, body: unknown, signal: AbortSignal): Delivery => ({
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
  body,
  signal,
});

/**
 * Runs the handler of an event. Rejects or throws as the handler does.
 * @param body where it was parsed already; it was strict JSON when it was accepted
 */
export async function runHandler<Tx>(
  config: ReceiverConfig<Tx>,
  event: InboxEvent,
  { body: parsed, signal }: { readonly body?: unknown; readonly signal: AbortSignal },
): Promise<Effect<Tx> | undefined> {
  const body: unknown = parsed === undefined ? JSON.parse(Buffer.from(event.body).toString()) : parsed;
  // A release that is no longer configured cannot read its events: a human decides, the fallback is not asked to guess.
  const bound = config.releases.get(event.release);
  if (bound === undefined) throw new Error(`no release ${event.release} is configured`);
  const known = eventOf(bound.release, event.kind, body);
  const word = typeof known === "string" ? known : (known?.kind ?? null);
  const outcome = await select(bound, event, deliveryOf(event, word, body, signal), known);
  return outcome ?? undefined;
}

function select<Tx>(
  bound: BoundRelease<Tx>,
  event: InboxEvent,
  delivery: Delivery,
  known: CataloguedEvent | string | undefined,
): Outcome<Tx> {
  const { handlers } = bound;
  const { body } = delivery;
  const flat = isJsonObject(body) ? body : {};
  const data = isJsonObject(flat.result) ? flat.result : flat;
  if (event.kind !== "task" && handlers.events !== undefined && typeof known === "object") {
    const handler = member(handlers.events, known.kind);
    if (typeof handler === "function") return handler(known.within === "result" ? data : flat, delivery);
  }
  switch (event.kind) {
    case "task":
      return runTask(bound, event, delivery);
    case "report":
      return handlers.report ? handlers.report(data as DeliveryReport, delivery) : handlers.fallback(delivery);
    case "impairment":
      return handlers.impairment ? handlers.impairment(data, delivery) : handlers.fallback(delivery);
    case "list_change":
      return handlers.listChange ? handlers.listChange(flat, delivery) : handlers.fallback(delivery);
    case "artifact":
      return handlers.artifact ? handlers.artifact(flat, delivery) : handlers.fallback(delivery);
    case "rights":
      return handlers.rights ? handlers.rights(flat, delivery) : handlers.fallback(delivery);
    case "account":
    case "agent":
      return handlers.fallback(delivery);
  }
}

type AnyHandler<Tx> = (data: unknown, answer: unknown, delivery: Delivery) => Outcome<Tx>;

/** The handler of the tool's arm; the fallback for a tool without handlers, and for a status its release gives no arm. */
function runTask<Tx>({ release, handlers }: BoundRelease<Tx>, event: InboxEvent, delivery: Delivery): Outcome<Tx> {
  const { taskType, status } = event;
  const arms = taskType === null ? undefined : member(handlers.tools, taskType);
  const handler = status === null || !isTaskStatus(status) ? undefined : member(arms, status);
  if (taskType === null || typeof handler !== "function") return handlers.fallback(delivery);
  const answer = readWebhookAnswer(release.tools[taskType]!, envelopeOf(event, delivery.body), release.word) as {
    data: unknown;
  };
  return (handler as AnyHandler<Tx>)(answer.data, answer, delivery);
}

/** A task's event as the envelope the contract reads, whichever shape it came in. */
const envelopeOf = (event: InboxEvent, body: unknown): TaskEnvelope => {
  if (event.format !== "a2a") return body as JsonObject as TaskEnvelope;
  return {
    status: event.status!,
    ...(event.taskId !== null && { task_id: event.taskId }),
    result: extractWebhook(body, "a2a").data ?? {},
  };
};
