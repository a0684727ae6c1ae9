/** Impairments: what changes on a media buy within a coalescence window becomes one event, with the newest state and its id. */
import type { JsonObject } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { eventCatalogue, surfaceMember } from "../facts/index.js";
import { eachAlone } from "../queue/periodic.js";
import type { ChannelRow, CoalescingRow } from "../store/sender-tables.js";
import type { EventsWebhook } from "./buy-configs.js";
import { type ChannelDependencies, channelOrderingKey, closedError, isNamed, target, tokenedBody } from "./channel.js";
import { OPEN } from "./channel-state.js";
import { coalescedName, isUrgent, urgentTypes, windowFor } from "./coalescence.js";
import { encodeBody, TOKEN_BYTES } from "./envelope.js";
import { type Delivery, enqueue } from "./outbox.js";
import type { StoredConfig } from "./registered-config.js";
import { openText, sealText } from "./sealed-bodies.js";
import { inTransaction } from "./transact.js";
import type { Emitted } from "./types.js";
import { builtOr, undeliverable } from "./undeliverable.js";

/** Media buys that are looked for at a time, a share of each principal's: the flood of one holds up no other. */
const FLUSH_LIMIT = 1_000;
/** Of them, sent at a time, each in a transaction of its own. */
const AT_ONCE = 4;
/** A turn goes on for so long while there are more, in milliseconds. */
const TURN_MS = 10_000;

/** Something that a media buy needs and cannot have. */
export interface Impairment {
  /** Stays the same while the impairment lasts, its closing event included. */
  readonly notificationId: string;
  /**
   * `impairment` by default; `fraud` and `brand_safety` are impairments that do not wait. Beside them, what the release of who is
   * told has for a media buy.
   */
  readonly eventType?: string;
  /** The `impairments[]` entry, newest state. */
  readonly impairment: JsonObject;
}

/** Left for what an event has beside the impairment: a token, and names of 1,000 bytes at most. */
const ENVELOPE_BYTES = TOKEN_BYTES + 16_384;

/** What every release's media buys are told of: an urgent one is the same to its receiver. */
const IMPAIRMENT = "impairment";

/** The type under which an event is sent. */
const wireType = (eventType: string): string => (isUrgent(eventType) ? IMPAIRMENT : eventType);

/**
 * Its receiver goes by the type: a report's, `final` for one, would be believed to be that.
 * @throws AdbindError `event_invalid` for a type that the release has not, or not for a media buy
 */
function checkType(parts: ChannelDependencies, eventType: string, version: string | null | undefined): void {
  const { release } = parts.releases.of(version);
  const has = eventCatalogue(release).kindsOf("media-buy");
  const type = wireType(eventType);
  if (type === IMPAIRMENT || has.includes(type)) return;
  const known = new Set([IMPAIRMENT, ...urgentTypes, ...has]);
  throw new AdbindError("event_invalid", `release ${release.version} tells no media buy of such an event`, {
    where: `eventType: ${eventType}`,
    remedy: `use ${[...known].join(", ")}`,
  });
}

/** @throws AdbindError `event_invalid`, `channel_closed` */
export function* impairmentFlow(
  parts: ChannelDependencies,
  tx: Query,
  resource: string,
  event: Impairment,
): Coroutine<Emitted> {
  const { tables, now, coalescence = {} } = parts;
  const [channel] = yield* tables.channel(tx, resource, "events");
  // Where nobody listens, too: a word that is wrong is not found out by the first buyer who does.
  checkType(parts, event.eventType ?? IMPAIRMENT, channel?.release);
  if (channel === undefined || channel.config === "null") return { keys: [] };
  if (channel.closed !== OPEN) throw closedError(resource);
  const { coalescenceOptIn = {} } = JSON.parse(channel.config) as EventsWebhook;
  const { notificationId, eventType = IMPAIRMENT, impairment } = event;
  const due = now() + windowFor(eventType, { windows: coalescence, optIn: coalescenceOptIn });
  // Encoded now, so that what cannot be sent fails the caller and not the timer.
  const payload = encodeBody(impairment, `media buy ${resource}`, ENVELOPE_BYTES);
  // The newest stands for all that changed on the buy: its receiver reads the rest there. What may not wait stands alone.
  const slot = JSON.stringify(isUrgent(eventType) ? [eventType, notificationId] : [eventType]);
  const owner = { principal: channel.principal, key: coalescedName(resource, slot) };
  const row: CoalescingRow = {
    ...{ resource, slot, notification_id: notificationId, event_type: eventType, due },
    payload: sealText(parts.bodies, payload, owner),
  };
  yield* tables.coalesce(tx, row);
  return due > now() ? { keys: [] } : yield* flush(parts, tx, channel, now());
}

/** How long a payload waits whose key is not here, in milliseconds. */
const LOST_KEY_MS = 600_000;

interface Opened {
  readonly row: CoalescingRow;
  /** Or why there is none, and never will be. */
  readonly payload: JsonObject | string;
}

/** Payloads of rows; those whose key is not here wait on, so that nothing is lost while it is away. */
function* openedPayloads(
  { tables, bodies, log, now }: ChannelDependencies,
  tx: Query,
  rows: readonly CoalescingRow[],
  principal: string,
): Coroutine<Opened[]> {
  const opened: Opened[] = [];
  for (const row of rows) {
    const { resource, slot } = row;
    const text = openText(bodies, row.payload, { principal, key: coalescedName(resource, slot) });
    if (text.ok) opened.push({ row, payload: payloadIn(text.body) });
    else if (text.lost) {
      log?.warn({ mediaBuyId: resource, principal, why: text.why }, "a coalesced event waits: it cannot be read");
      yield* tables.coalesce(tx, { ...row, due: now() + LOST_KEY_MS });
    } else opened.push({ row, payload: text.why });
  }
  return opened;
}

function payloadIn(body: Uint8Array): JsonObject | string {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as JsonObject;
  } catch {
    return "its payload is no JSON";
  }
}

/** Task types that an impairment may name, in their order: it tells of what the buyer made or changed last. */
const buyTasks = ["update_media_buy", "create_media_buy"] as const;

/**
 * What the release's envelope of tasks requires of an impairment. It ends no task: its own is `working`, so that nobody takes
 * its result for a tool's answer.
 */
function envelopeOf({ releases }: ChannelDependencies, { release: version }: ChannelRow, key: string): JsonObject {
  const { release } = releases.of(version);
  const { task, taskTypes } = release.facts.events;
  if (task === undefined) return {};
  const type = buyTasks.find((one) => taskTypes?.value.includes(one) ?? true);
  return {
    task_id: `impairment.${key}`,
    ...(type !== undefined && { task_type: type }),
    [surfaceMember(release)]: "media-buy",
    status: "working",
  };
}

function impairmentDelivery(
  parts: ChannelDependencies,
  channel: ChannelRow,
  { row, type, payload }: { readonly row: CoalescingRow; readonly type: string; readonly payload: JsonObject },
): Delivery {
  const config = JSON.parse(channel.config) as StoredConfig<EventsWebhook>;
  const key = parts.uuid();
  const body = tokenedBody(
    config,
    {
      idempotency_key: key,
      notification_id: row.notification_id,
      notification_type: type,
      operation_id: config.operation_id,
      ...envelopeOf(parts, channel, key),
      media_buy_id: row.resource,
      timestamp: new Date(parts.now()).toISOString(),
      result: { media_buy_id: row.resource, ...payload },
    },
    `media buy ${row.resource}`,
  );
  return { ...target(parts, channel), key, orderingKey: channelOrderingKey(channel), type, ...body };
}

/** Sends what waits on a channel and is due. */
export function* flush(parts: ChannelDependencies, tx: Query, channel: ChannelRow, until: number): Coroutine<Emitted> {
  const rows = yield* parts.tables.takeCoalesced(tx, channel.resource, until);
  if (channel.config === "null" || !isNamed(parts, channel)) return { keys: [] };
  const opened = yield* openedPayloads(parts, tx, rows, channel.principal);
  const deliveries = opened
    .toSorted((one, other) => one.row.due - other.row.due)
    .map(({ row, payload }): Delivery => {
      // Fraud and brand safety are impairments that may not wait; the wire knows one type for all.
      const type = wireType(row.event_type);
      const refused = (why: string): Delivery => undeliverable(parts, channel, { type, why });
      if (typeof payload === "string") return refused(payload);
      return builtOr(() => impairmentDelivery(parts, channel, { row, type, payload }), refused);
    });
  yield* enqueue(parts, tx, deliveries);
  return { keys: deliveries.map(({ key }) => key) };
}

/** Sends what is due, while there is much for some time. @throws what some of it met, after the rest has been sent */
export async function flushCoalesced(parts: ChannelDependencies, stopping: AbortSignal): Promise<void> {
  const end = performance.now() + TURN_MS;
  while ((await flushSome(parts, stopping)) >= FLUSH_LIMIT && !stopping.aborted && performance.now() < end);
}

/** @returns how many media buys there were */
async function flushSome(parts: ChannelDependencies, stopping: AbortSignal): Promise<number> {
  const { queue, tables, now } = parts;
  const at = now();
  const due = await inTransaction(queue, undefined, (tx) => tables.dueCoalesced(tx, at, FLUSH_LIMIT));
  const flushOne = async ({ resource }: { resource: string }): Promise<void> => {
    await inTransaction(queue, undefined, function* (tx): Coroutine<void> {
      const key = { resource, kind: "events", subscriber: "" };
      // Nobody's events wait for a transaction that is open on another's channel: its turn comes again.
      if (!(yield* tables.takeFree(tx, { channels: [key] }))) return;
      // The channel's lock keeps two instances from sending what each found.
      const [channel] = yield* tables.channel(tx, resource, "events");
      if (channel !== undefined) yield* flush(parts, tx, channel, at);
      else yield* tables.takeCoalesced(tx, resource, at);
    });
  };
  await eachAlone(due, flushOne, { atOnce: AT_ONCE, stopping });
  return due.length;
}
