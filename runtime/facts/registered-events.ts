/**
 * Events by what somebody registered for: which channels carry them, and by which fields they are known. The one table of
 * senders and receivers; a test holds it against published releases.
 */
import type { EventChannel, JsonObject, Release } from "../contract/index.js";
import { type CataloguedEvent, eventCatalogue } from "./events.js";

interface RegisteredEvents {
  readonly channels: readonly EventChannel[];
  /**
   * Fields without which a body is no such event: every release requires them of each. What else a release requires is for who
   * sends; who receives notes that it is not there, since refusing would lose the event.
   */
  readonly knownBy: readonly string[];
}

const inTask = ["idempotency_key", "task_id", "task_type", "status", "timestamp"] as const;

/** Rows by the kind of their registration. */
export const registeredEvents = {
  task: { channels: ["task"], knownBy: inTask },
  report: { channels: ["reporting"], knownBy: inTask },
  // In a task's envelope or outside of one.
  impairment: { channels: ["media-buy"], knownBy: ["idempotency_key"] },
  list_change: { channels: ["resource"], knownBy: ["idempotency_key", "event", "list_id"] },
  artifact: { channels: ["resource"], knownBy: ["idempotency_key", "media_buy_id", "batch_id", "artifacts"] },
  rights: { channels: ["resource"], knownBy: ["idempotency_key", "rights_id", "brand_id"] },
  // Of which kind they are is found out afterwards: one that is unknown is kept.
  account: { channels: ["account"], knownBy: ["idempotency_key"] },
  agent: { channels: ["agent"], knownBy: ["idempotency_key"] },
} as const satisfies Record<string, RegisteredEvents>;

/** What a route or a subscription is registered for. */
export type RegisteredKind = keyof typeof registeredEvents;

/** A notice to those who subscribed to a resource. */
export type ResourceNotice = {
  [K in RegisteredKind]: "resource" extends (typeof registeredEvents)[K]["channels"][number] ? K : never;
}[RegisteredKind];

/** The events of a release that a subscription to a resource is told of. */
export function noticesOf(release: Pick<Release, "facts">, kind: ResourceNotice): readonly CataloguedEvent[] {
  const { channels, knownBy }: RegisteredEvents = registeredEvents[kind];
  return eventCatalogue(release).events.filter(
    (event) =>
      event.channels.some((channel) => channels.includes(channel)) &&
      knownBy.every((field) => event.fields.includes(field)),
  );
}

/**
 * Fields that a release requires of a notice and that a payload lacks; the key is not asked for, since each of those who are
 * told has one.
 * @returns undefined where the release has no such notice
 */
export function missingInNotice(
  release: Pick<Release, "facts">,
  kind: ResourceNotice,
  payload: JsonObject,
): readonly string[] | undefined {
  const notices = noticesOf(release, kind);
  const named = ({ discriminator, kind: word }: CataloguedEvent): boolean =>
    discriminator === undefined || payload[discriminator] == null || payload[discriminator] === word;
  return notices.find(named)?.fields.filter((field) => field !== "idempotency_key" && payload[field] == null);
}
