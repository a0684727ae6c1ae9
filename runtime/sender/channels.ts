/** Channels that outlive one operation (docs/protocol/webhooks.md#persistent-channels): reports, impairments, notices. */
import { isJsonObject, type JsonObject, type MaybePromise } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { refusesUnnamed } from "../facts/index.js";
import type { SharedWork } from "../queue/each.js";
import { eachAlone, type PeriodicStep } from "../queue/periodic.js";
import type { ChannelKey, ChannelRow } from "../store/sender-tables.js";
import { isFrequency, nextTurn } from "./calendar.js";
import {
  type ChannelDependencies,
  channelOrderingKey,
  type EventsWebhook,
  isNamed,
  type ReportingWebhook,
  registeredOperation,
} from "./channel.js";
import { CLOSED, CLOSING, OPEN } from "./channel-state.js";
import { windowFor } from "./coalescence.js";
import { checkSoughtNames, checkStorableNames } from "./ids.js";
import { flush, flushCoalesced, type Impairment, impairmentFlow } from "./impairments.js";
import { checkNotice, type NoticeKind, noticeFlow } from "./notices.js";
import { channelRegistration } from "./registered-config.js";
import { sealedConfig } from "./registered-secrets.js";
import { refused, registrationFault } from "./registration.js";
import { adjustedFlow, fireReports, turnAnew } from "./reports.js";
import { takenConfig } from "./taken-config.js";
import { holdOwner, inTransaction, takeRows } from "./transact.js";
import type {
  CorrectedReport,
  Emitted,
  OwnedOptions,
  PushNotificationConfig,
  Refused,
  WithinOptions,
} from "./types.js";
import { tellUnnamed } from "./undeliverable.js";

/** Channels of a media buy as a call registers them. */
export interface BuyChannels {
  readonly reporting?: ReportingWebhook;
  readonly events?: EventsWebhook;
}

export interface OwnedBuy {
  readonly mediaBuyId: string;
  readonly principal: string;
  /** Version of the release the principal is served; the sender's first by default. */
  readonly release?: string;
}

/** Channels that outlive one operation: reports, impairments, notices. */
export interface Channels {
  /**
   * Opens a media buy's channels, or changes their config: what is fired from then on goes by the new one. Null closes.
   * A `reporting` channel without `operation_id`, where the release's payload needs one, is taken and never fired: an
   * operator is told once, by the log and by an event of state `refused`. `events` without one is refused where the release
   * says so, and else treated alike.
   * @returns a refusal to answer the caller with; `MEDIA_BUY_NOT_FOUND` where the buy is another principal's
   */
  open(
    buy: OwnedBuy,
    channels: { readonly [K in keyof BuyChannels]: BuyChannels[K] | null },
    options?: WithinOptions,
  ): MaybePromise<{ readonly ok: true } | Refused>;
  /**
   * Queues an impairment; changes of one media buy within the window of their event type become one event, with the newest one's
   * state and `notificationId`. What is urgent does not wait.
   * @throws AdbindError `channel_closed` after the buy's final event, `event_invalid` for names that cannot be stored
   */
  impairment(mediaBuyId: string, event: Impairment, options?: OwnedOptions): MaybePromise<Emitted>;
  /**
   * Sends a corrected report of a period, or one whose measurement has a wider window now (`window_update`).
   * @throws AdbindError `channel_closed` after the final one, `event_invalid` for an id that no media buy can have
   */
  adjusted(mediaBuyId: string, report: CorrectedReport, options?: OwnedOptions): MaybePromise<Emitted>;
  /** The buy has ended: queued impairments go first, then the final report, then nothing. */
  close(mediaBuyId: string, options?: OwnedOptions): MaybePromise<Emitted>;
  /**
   * Takes a principal's subscription to list changes, artifacts or revocations of a resource, instead of the one it had;
   * null ends it. Any number of principals may subscribe.
   */
  subscribe(
    kind: NoticeKind,
    of: { readonly resource: string; readonly principal: string },
    config: PushNotificationConfig | null,
    options?: WithinOptions,
  ): MaybePromise<{ readonly ok: true } | Refused>;
  /**
   * Sends a notice to each of the resource's subscribers, or to a principal's alone, with a key for each.
   * @throws AdbindError `event_invalid` for a payload that lacks a field, or an event that the release does not have
   */
  notify(kind: NoticeKind, resource: string, payload: JsonObject, options?: OwnedOptions): MaybePromise<Emitted>;
  /** Coalescence windows that are shorter than the defaults, in seconds, for `get_agent_capabilities`. */
  readonly declaredWindows: Readonly<Record<string, number>>;
  /**
   * Fires what is due now; the sender does so while it runs.
   * @throws what some of it met, after all the rest has been fired
   */
  tick(): Promise<void>;
}

const EVER = Number.MAX_SAFE_INTEGER;

/** A buy's channels; that of kind `buy` says whose it is. */
const ofBuy = (resource: string, ...kinds: readonly ("buy" | "events" | "reporting")[]): ChannelKey[] =>
  kinds.map((kind) => ({ resource, kind, subscriber: "" }));

export function createChannels(parts: ChannelDependencies): Channels {
  const { queue, coalescence = {} } = parts;
  const run = <T>(
    { tx, principal }: OwnedOptions,
    channels: readonly ChannelKey[],
    flow: (open: Query) => Coroutine<T>,
  ): MaybePromise<T> => {
    checkSoughtNames({ principal });
    const work: SharedWork<T> = function* (open, locking) {
      yield* holdOwner(parts.tables, open, principal);
      yield* takeRows(parts.tables, open, { channels }, locking);
      return yield* flow(open);
    };
    return inTransaction(queue, tx, work, channels[0] && channelOrderingKey(channels[0]));
  };
  const shorter = Object.entries(coalescence).filter(([type, ms]) => ms < windowFor(type, { windows: {}, optIn: {} }));
  return {
    open(buy, channels, options = {}) {
      checkStorableNames({ mediaBuyId: buy.mediaBuyId, principal: buy.principal });
      const fault = buyFault(parts, channels, buy.release);
      const rows = ofBuy(buy.mediaBuyId, "buy", "events", "reporting");
      return fault ?? run(options, rows, (open) => openFlow(parts, open, buy, channels));
    },
    impairment(mediaBuyId, event, options = {}) {
      checkSoughtNames({ mediaBuyId });
      checkStorableNames({ notificationId: event.notificationId, eventType: event.eventType });
      return run(options, ofBuy(mediaBuyId, "events"), (open) => impairmentFlow(parts, open, mediaBuyId, event));
    },
    adjusted(mediaBuyId, report, options = {}) {
      checkSoughtNames({ mediaBuyId });
      return run(options, ofBuy(mediaBuyId, "reporting"), (open) => adjustedFlow(parts, open, mediaBuyId, report));
    },
    close(mediaBuyId, options = {}) {
      checkSoughtNames({ mediaBuyId });
      return run(options, ofBuy(mediaBuyId, "events", "reporting"), (open) => closeFlow(parts, open, mediaBuyId));
    },
    subscribe(kind, { resource, principal }, config, options = {}) {
      checkStorableNames({ resource, principal });
      const fault = config === null ? undefined : registrationFault(config, kind, undefined, parts.rules);
      return (
        fault ??
        run(options, [{ resource, kind, subscriber: principal }], (open) =>
          putFlow(parts, open, { resource, kind, subscriber: principal, principal, release: null }, config),
        )
      );
    },
    notify(kind, resource, payload, options = {}) {
      checkSoughtNames({ resource });
      checkNotice(parts, kind, payload);
      return run(options, [], (open) =>
        noticeFlow(parts, open, { kind, resource, payload, principal: options.principal }),
      );
    },
    declaredWindows: Object.fromEntries(shorter.map(([type, ms]) => [type, ms / 1_000])),
    tick: () => eachAlone(dueSteps(parts), async ({ run }) => void (await run(new AbortController().signal))),
  };
}

/** What channels send in time, by itself. */
export const dueSteps = (parts: ChannelDependencies): readonly [coalesced: PeriodicStep, reports: PeriodicStep] => [
  {
    name: "send coalesced events",
    meanwhile: "those of the buys the error is about wait",
    run: (stopping) => flushCoalesced(parts, stopping),
  },
  {
    name: "fire delivery reports",
    meanwhile: "those of the buys the error is about are asked for again within a minute",
    run: (stopping) => fireReports(parts, stopping),
  },
];

function buyFault(
  { rules, reports, releases }: ChannelDependencies,
  { reporting, events }: { readonly [K in keyof BuyChannels]: BuyChannels[K] | null },
  version: string | undefined,
): Refused | undefined {
  if (reporting != null) {
    if (reports === undefined) return refused("delivery reports are not offered here", "reporting_webhook");
    if (!isFrequency(reporting.reporting_frequency)) {
      return refused("reporting_frequency must be hourly, daily or monthly", "reporting_webhook.reporting_frequency");
    }
    const fault = registrationFault(reporting, "reporting_webhook", undefined, rules);
    if (fault !== undefined) return fault;
  }
  if (events == null) return undefined;
  const where = "push_notification_config";
  const needed = refusesUnnamed(releases.of(version).release) || rules.refuse.withoutOperationId === true;
  if (needed && events.operation_id === undefined) return refused("operation_id is required", `${where}.operation_id`);
  return windowsFault(events) ?? registrationFault(events, where, undefined, rules);
}

/** Longest window a buyer may agree to, in milliseconds. */
const LONGEST_OPT_IN_MS = 7 * 86_400_000;

function windowsFault({ coalescenceOptIn: optIn = {} }: EventsWebhook): Refused | undefined {
  const isWindow = (ms: unknown): boolean => typeof ms === "number" && ms >= 0 && ms <= LONGEST_OPT_IN_MS;
  if (isJsonObject(optIn) && Object.values(optIn).every(isWindow)) return undefined;
  const longest = `0 to ${LONGEST_OPT_IN_MS} milliseconds`;
  return refused(`coalescenceOptIn must have windows of ${longest}`, "push_notification_config.coalescenceOptIn");
}

function* openFlow(
  parts: ChannelDependencies,
  tx: Query,
  { mediaBuyId: resource, principal, release = null }: Omit<OwnedBuy, "release"> & { readonly release?: string | null },
  { reporting, events }: { readonly [K in keyof BuyChannels]: BuyChannels[K] | null },
): Coroutine<{ ok: true } | Refused> {
  if (reporting === undefined && events === undefined) return { ok: true };
  const buy = yield* parts.tables.claimChannel(tx, { resource, kind: "buy", subscriber: "" }, principal);
  if (buy.principal !== principal) return elsewhere;
  const of = { resource, subscriber: "", principal, release };
  if (reporting !== undefined) yield* putFlow(parts, tx, { ...of, kind: "reporting" }, reporting);
  if (events !== undefined) yield* putFlow(parts, tx, { ...of, kind: "events" }, events);
  return { ok: true };
}

/** What a caller is told of another principal's media buy: whose it is nobody learns. */
const elsewhere = refused("there is no such media buy", "media_buy_id", "MEDIA_BUY_NOT_FOUND");

/** Opens a channel or changes its config; what it counts and what it has covered stays. */
function* putFlow(
  parts: ChannelDependencies,
  tx: Query,
  of: Pick<ChannelRow, "resource" | "kind" | "subscriber" | "principal" | "release">,
  given: PushNotificationConfig | ReportingWebhook | null,
): Coroutine<{ ok: true }> {
  const { tables, now, keyring } = parts;
  const [known] = yield* tables.channel(tx, of.resource, of.kind, of.subscriber);
  const registration = channelRegistration(of);
  const names = { registration, orderingKey: channelOrderingKey(of), principal: of.principal };
  const config = given && takenConfig(of.kind, given);
  const operation = config?.operation_id;
  const sealed = config === null ? undefined : sealedConfig({ ...names, config, operation }, keyring, now());
  const frequency = config !== null && "reporting_frequency" in config ? config.reporting_frequency : undefined;
  const start = known?.period_start ?? now();
  const place = { config: JSON.stringify(sealed?.stored ?? null), endpoint: sealed?.endpoint ?? null };
  const over = known !== undefined && known.closed !== OPEN;
  if (over && of.kind === "events" && isOther(known, operation)) return { ok: true };
  // What is still to be said of a buy that has ended is said where its owner is now, when it would have been.
  const row: ChannelRow = over
    ? { ...known, ...of, ...place, next_fire: sealed === undefined ? null : known.next_fire }
    : {
        ...of,
        ...place,
        sequence: known?.sequence ?? 0,
        period_start: frequency === undefined ? (known?.period_start ?? null) : start,
        next_fire: frequency === undefined ? null : turnAnew(known, nextTurn(frequency, Math.max(start, now())), now()),
        closed: OPEN,
        closed_at: null,
      };
  const toBeNamed = frequency !== undefined || (config !== null && of.kind === "events");
  const unnamed = !over && toBeNamed && !isNamed(parts, row);
  yield* tables.putChannel(tx, unnamed ? { ...row, next_fire: null } : row);
  if (known !== undefined && sealed !== undefined && known.endpoint !== row.endpoint)
    yield* parts.queue.redirect(tx, names.orderingKey, sealed.endpoint);
  if (sealed?.row !== undefined) yield* tables.putSecrets(tx, [sealed.row]);
  else if (known !== undefined) yield* tables.dropSecrets(tx, [registration]);
  const told = known !== undefined && known.config !== "null" && !isNamed(parts, known);
  if (unnamed && !told) yield* tellUnnamed(parts, tx, row);
  return { ok: true };
}

/**
 * Whether a config registers another operation than the channel's. The call that ends a buy registers its own: what is still
 * to be said of the buy names the one before, and nobody expects it at the place of that call.
 */
const isOther = (row: ChannelRow, operation: string | undefined): boolean =>
  operation !== undefined && operation !== registeredOperation(row);

function* closeFlow(parts: ChannelDependencies, tx: Query, resource: string): Coroutine<Emitted> {
  const { tables, now } = parts;
  const [events] = yield* tables.channel(tx, resource, "events");
  let sent: Emitted = { keys: [] };
  if (events?.closed === OPEN) {
    sent = yield* flush(parts, tx, events, EVER);
    yield* tables.putChannel(tx, { ...events, closed: CLOSED, closed_at: now() });
    yield* tables.checkSecrets(tx, [channelRegistration(events)], now());
  }
  const [reporting] = yield* tables.channel(tx, resource, "reporting");
  if (reporting?.closed === OPEN) {
    const silent = reporting.config === "null" || !isNamed(parts, reporting);
    const ended = silent ? { closed: CLOSED, closed_at: now() } : { closed: CLOSING, closed_at: null };
    const row = { ...reporting, ...ended, next_fire: silent ? null : now() };
    if (silent) yield* tables.checkSecrets(tx, [channelRegistration(reporting)], now());
    yield* tables.putChannel(tx, row);
  }
  return sent;
}
