/** What registers, changes and ends the channels of a resource, and what stands with whose it is. */
import { UTC } from "../calendar.js";
import type { Coroutine, Query } from "../db/index.js";
import type { ChannelRow } from "../store/sender-tables.js";
import type { EventsWebhook, ReportingWebhook } from "./buy-configs.js";
import { nextTurn } from "./calendar.js";
import { type ChannelDependencies, channelOrderingKey, isNamed, registeredOperation } from "./channel.js";
import { CLOSED, CLOSING, OPEN } from "./channel-state.js";
import { flush } from "./impairments.js";
import { channelRegistration, type StoredConfig } from "./registered-config.js";
import { sealedConfig } from "./registered-secrets.js";
import { refused } from "./registration.js";
import { turnAnew } from "./reports.js";
import { takenConfig } from "./taken-config.js";
import type { Emitted, PushNotificationConfig, Refused } from "./types.js";
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

/** Every time there is. */
const EVER = Number.MAX_SAFE_INTEGER;

export function* openFlow(
  parts: ChannelDependencies,
  tx: Query,
  { mediaBuyId: resource, principal, release = null }: Omit<OwnedBuy, "release"> & { readonly release?: string | null },
  { reporting, events }: { readonly [K in keyof BuyChannels]: BuyChannels[K] | null },
): Coroutine<{ ok: true } | Refused> {
  if (reporting === undefined && events === undefined) return { ok: true };
  const buy = yield* parts.tables.claimChannel(tx, { resource, kind: "buy", subscriber: "" }, principal);
  if (buy.principal !== principal) return elsewhere;
  const of = { resource, subscriber: "", principal, release };
  const timezone = timezoneIn(buy);
  if (reporting !== undefined) yield* putFlow(parts, tx, { ...of, kind: "reporting" }, reporting, timezone);
  if (events !== undefined) yield* putFlow(parts, tx, { ...of, kind: "events" }, events);
  return { ok: true };
}

/** What a caller is told of another principal's media buy: whose it is nobody learns. */
const elsewhere = refused("there is no such media buy", "media_buy_id", "MEDIA_BUY_NOT_FOUND");

/** Opens a channel or changes its config; what it counts and what it has covered stays. */
export function* putFlow(
  parts: ChannelDependencies,
  tx: Query,
  of: Pick<ChannelRow, "resource" | "kind" | "subscriber" | "principal" | "release">,
  given: PushNotificationConfig | ReportingWebhook | null,
  timezone?: string,
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
  const place = {
    config: JSON.stringify(sealed ? { ...sealed.stored, timezone } : null),
    endpoint: sealed?.endpoint ?? null,
  };
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
        next_fire:
          frequency === undefined
            ? null
            : turnAnew(known, nextTurn(frequency, Math.max(start, now()), timezone), now()),
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

export function* closeFlow(parts: ChannelDependencies, tx: Query, resource: string): Coroutine<Emitted> {
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
  // Nothing was registered of it: nothing else would take away whose it is.
  if (events === undefined && reporting === undefined)
    yield* tables.dropChannels(tx, [{ resource, kind: "buy", subscriber: "" }]);
  return sent;
}

/** Whose clocks the reports of a buy go by; undefined where they are UTC's. @param buy its row of kind `buy` */
const timezoneIn = ({ config }: ChannelRow): string | undefined =>
  (JSON.parse(config) as { readonly timezone?: string } | null)?.timezone;

/** What was due by the clocks of before, and is asked for again, is not put off. */
export function* reportInFlow(
  { tables, now }: ChannelDependencies,
  tx: Query,
  { mediaBuyId: resource, principal }: OwnedBuy,
  zone: string,
): Coroutine<void> {
  const buy = yield* tables.claimChannel(tx, { resource, kind: "buy", subscriber: "" }, principal);
  if (buy.principal !== principal) return;
  const timezone = zone === UTC ? undefined : zone;
  if (timezoneIn(buy) === timezone) return;
  yield* tables.putChannel(tx, { ...buy, config: JSON.stringify(timezone === undefined ? null : { timezone }) });
  const [reports] = yield* tables.channel(tx, resource, "reporting");
  if (reports === undefined || reports.config === "null") return;
  const stored = JSON.parse(reports.config) as StoredConfig<ReportingWebhook>;
  const { closed, next_fire: due, period_start: start } = reports;
  const next = nextTurn(stored.reporting_frequency, Math.max(start ?? 0, now()), timezone);
  yield* tables.putChannel(tx, {
    ...reports,
    config: JSON.stringify({ ...stored, timezone }),
    next_fire: closed !== OPEN || due === null ? due : turnAnew(reports, next, now()),
  });
}
