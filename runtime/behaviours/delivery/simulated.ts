/** What a test says a buy delivered: rows, some of a day, and fields that are shown as they were given. */
import { startOfDay, UTC } from "../../calendar.js";
import type { JsonObject } from "../../contract/index.js";
import type { MediaBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { summed } from "../frame/currency.js";
import type { DeliveredTotals } from "../ports/ad-server.js";

/** Days asked for, `YYYY-MM-DD`, or hours, ISO 8601: the first is part of it, the last is not. */
export interface DeliveryDays {
  readonly from?: string | undefined;
  readonly before?: string | undefined;
  /** Whose days they are. */
  readonly timezone: string;
  /** Only what happened in that time: what is known of no day happened when it was told. */
  readonly dated?: true;
}

/** All that there ever was. */
export const lifetime: DeliveryDays = { timezone: UTC };

/** @param text a day, `YYYY-MM-DD`, or a time, ISO 8601 @param timezone whose day it is */
export const beginningOf = (text: string, timezone: string): number =>
  text.length === "YYYY-MM-DD".length ? startOfDay(text, timezone) : Date.parse(text);

interface SimulatedRow {
  /** `YYYY-MM-DD`; of the whole flight where left out. */
  readonly day?: string;
  readonly totals: DeliveredTotals;
}

interface KeptRow extends SimulatedRow {
  /** When it was told, ISO 8601. */
  readonly at: string;
}

interface Simulated {
  readonly rows: readonly KeptRow[];
  /** Fields of delivery metrics beside the totals, as on the wire. */
  readonly more: JsonObject;
}

const kept = collection<Simulated>("delivery");

export const nothing: DeliveredTotals = { impressions: 0, clicks: 0, spend: 0, conversions: 0 };

export const added = (a: DeliveredTotals, b: DeliveredTotals): DeliveredTotals => ({
  impressions: a.impressions + b.impressions,
  clicks: a.clicks + b.clicks,
  spend: summed([a.spend, b.spend]),
  conversions: a.conversions + b.conversions,
  ...((a.views ?? b.views) !== undefined && { views: (a.views ?? 0) + (b.views ?? 0) }),
});

const of = async (call: BehaviourCall, { media_buy_id }: MediaBuy): Promise<Simulated> =>
  (await kept.get(call, call.principal, media_buy_id)) ?? { rows: [], more: {} };

export async function simulatedRows(
  call: BehaviourCall,
  buy: MediaBuy,
  { from, before, timezone, dated }: DeliveryDays = lifetime,
): Promise<DeliveredTotals[]> {
  const { rows } = await of(call, buy);
  const first = from === undefined ? Number.NEGATIVE_INFINITY : beginningOf(from, timezone);
  const end = before === undefined ? Number.POSITIVE_INFINITY : beginningOf(before, timezone);
  const wanted = ({ day, at }: KeptRow): boolean => {
    if (day === undefined && dated !== true) return true;
    const ms = beginningOf(day ?? at, timezone);
    return first <= ms && ms < end;
  };
  return rows.filter(wanted).map(({ totals }) => totals);
}

export const simulatedOf = async (call: BehaviourCall, buy: MediaBuy): Promise<DeliveredTotals> =>
  (await simulatedRows(call, buy)).reduce(added, nothing);

export const simulatedFields = async (call: BehaviourCall, buy: MediaBuy): Promise<JsonObject> =>
  (await of(call, buy)).more;

/** Adds a row. */
export async function simulateDelivery(
  call: BehaviourCall,
  buy: MediaBuy,
  { day, totals, more = {} }: SimulatedRow & { readonly more?: JsonObject },
): Promise<void> {
  const before = await of(call, buy);
  const row = { ...(day !== undefined && { day }), totals, at: call.time };
  kept.put(call, call.principal, buy.media_buy_id, {
    rows: [...before.rows, row],
    more: { ...before.more, ...more },
  });
}
