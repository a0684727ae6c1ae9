/** Channels that outlive one operation (docs/protocol/webhooks.md#persistent-channels): reports, impairments, notices. */
import { isTimeZone } from "../calendar.js";
import { isJsonObject, type JsonObject, type MaybePromise } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { refusesUnnamed } from "../facts/index.js";
import type { SharedWork } from "../queue/each.js";
import { eachAlone, type PeriodicStep } from "../queue/periodic.js";
import type { ChannelKey } from "../store/sender-tables.js";
import { type BuyChannels, closeFlow, type OwnedBuy, openFlow, putFlow, reportInFlow } from "./buy-channels.js";
import type { EventsWebhook } from "./buy-configs.js";
import { isFrequency } from "./calendar.js";
import { type ChannelDependencies, channelOrderingKey } from "./channel.js";
import { windowFor } from "./coalescence.js";
import { checkSoughtNames, checkStorableNames } from "./ids.js";
import { flushCoalesced, type Impairment, impairmentFlow } from "./impairments.js";
import { checkNotice, type NoticeKind, noticeFlow } from "./notices.js";
import { refused, registrationFault } from "./registration.js";
import { adjustedFlow, fireReports } from "./reports.js";
import { holdOwner, inTransaction, takeRows } from "./transact.js";
import type {
  CorrectedReport,
  Emitted,
  OwnedOptions,
  PushNotificationConfig,
  Refused,
  WithinOptions,
} from "./types.js";

/** Channels that outlive one operation: reports, impairments, notices. */
export interface Channels {
  /**
   * Judges a media buy's channels without opening them, so that a call is refused before it has done anything.
   * @param release version of the one the caller is answered in
   * @returns a refusal to answer the caller with; undefined where `open` takes them for whose buy it is
   */
  check(channels: { readonly [K in keyof BuyChannels]: BuyChannels[K] | null }, release?: string): Refused | undefined;
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
   * @throws AdbindError `channel_closed` after the buy's final event, `event_invalid` for names that cannot be stored, or a type
   * that the release of who is told has not for a media buy
   */
  impairment(mediaBuyId: string, event: Impairment, options?: OwnedOptions): MaybePromise<Emitted>;
  /**
   * Sends a corrected report of a period, or one whose measurement has a wider window now (`window_update`).
   * @throws AdbindError `channel_closed` after the final one, `event_invalid` for an id that no media buy can have, a type that the
   * release of who is told has not, and what is no period
   */
  adjusted(mediaBuyId: string, report: CorrectedReport, options?: OwnedOptions): MaybePromise<Emitted>;
  /**
   * Says whose clocks a media buy's reports go by: scheduled ones end at its hours, midnights and months from then on, and name it.
   * Of a buy that is another principal's, nothing.
   * @param timezone "UTC", which it is where nobody says, or a time zone of the IANA's database
   * @throws AdbindError `event_invalid` for what is no time zone
   */
  reportIn(buy: OwnedBuy, timezone: string, options?: WithinOptions): MaybePromise<void>;
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

/** A buy's channels; that of kind `buy` says whose it is, and whose clocks it is reported by. */
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
  return {
    check: (channels, release) => buyFault(parts, channels, release),
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
    reportIn(buy, timezone, options = {}) {
      checkStorableNames({ mediaBuyId: buy.mediaBuyId, principal: buy.principal });
      checkTimezone(timezone, buy.mediaBuyId);
      const rows = ofBuy(buy.mediaBuyId, "buy", "reporting");
      return run(options, rows, (open) => reportInFlow(parts, open, buy, timezone));
    },
    close(mediaBuyId, options = {}) {
      checkSoughtNames({ mediaBuyId });
      return run(options, ofBuy(mediaBuyId, "events", "reporting"), (open) => closeFlow(parts, open, mediaBuyId));
    },
    subscribe(kind, { resource, principal }, config, options = {}) {
      checkStorableNames({ resource, principal });
      const fault = config === null ? undefined : registrationFault(config, kind, undefined, parts.rules);
      const of = { resource, kind, subscriber: principal };
      const put = (open: Query) => putFlow(parts, open, { ...of, principal, release: null }, config);
      return fault ?? run(options, [of], put);
    },
    notify(kind, resource, payload, options = {}) {
      checkSoughtNames({ resource });
      checkNotice(parts, kind, payload);
      return run(options, [], (open) =>
        noticeFlow(parts, open, { kind, resource, payload, principal: options.principal }),
      );
    },
    declaredWindows: shorterWindows(coalescence),
    tick: () => eachAlone(dueSteps(parts), async ({ run }) => void (await run(new AbortController().signal))),
  };
}

/** In seconds, by event type. */
const shorterWindows = (windows: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(windows)
      .filter(([type, ms]) => ms < windowFor(type, { windows: {}, optIn: {} }))
      .map(([type, ms]) => [type, ms / 1_000]),
  );

function checkTimezone(timezone: string, mediaBuyId: string): void {
  if (isTimeZone(timezone)) return;
  throw new AdbindError("event_invalid", `${String(timezone)} is no time zone`, {
    where: `media buy ${mediaBuyId}`,
    remedy: 'use "UTC" or a name as America/New_York',
  });
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
