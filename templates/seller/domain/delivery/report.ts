import type { JsonObject } from "adbind/contract";
import type { Call, Request } from "../../handler.js";
import { buysOf, endOf, type MediaBuy, type Package, startOf, stateOf } from "../media-buys/media-buy.js";
import { findProduct } from "../products/products.js";
import { type Delivered, deliveredByBuy, deliveredOf } from "./delivery.js";

type Wanted = Request<"get_media_buy_delivery">;

const DAY_MS = 86_400_000;

/** `get_media_buy_delivery`: figures per buy and package, and their sum. */
export function reportDelivery(call: Call, request: Wanted): JsonObject {
  const wanted = request.media_buy_ids as readonly string[] | undefined;
  const own = buysOf(call, { account: request.account, ids: wanted });
  const states = request.status_filter === undefined ? undefined : new Set([request.status_filter].flat() as string[]);
  const fitting = own.filter((buy) => states === undefined || states.has(stateOf(call, buy)));
  const known = new Set(own.map(({ media_buy_id }) => media_buy_id));
  const missing = (wanted ?? []).filter((id) => !known.has(id));
  const daily = request.include_package_daily_breakdown === true;
  const sums = fitting.map((buy) => deliveredByBuy(call, buy));
  const sum = (field: keyof Delivered): number => sums.reduce((total, one) => total + one[field], 0);
  return {
    reporting_period: periodOf(call, request, fitting),
    currency: fitting[0]?.currency ?? "USD",
    aggregated_totals: {
      impressions: sum("impressions"),
      spend: sum("spend"),
      clicks: sum("clicks"),
      media_buy_count: fitting.length,
    },
    media_buy_deliveries: fitting.map((buy) => deliveryOf(call, buy, daily)),
    ...(missing.length > 0 && {
      errors: missing.map(() => ({ code: "MEDIA_BUY_NOT_FOUND", message: "there is no such media buy" })),
    }),
  };
}

/** The days asked for; else from the first start until now. */
function periodOf(call: Call, { start_date, end_date }: Wanted, buys: readonly MediaBuy[]): JsonObject {
  const starts = buys.map((buy) => Date.parse(startOf(buy)));
  const now = call.now.getTime();
  const start = start_date === undefined ? Math.min(now, ...starts) : Date.parse(start_date);
  const end = end_date === undefined ? now : Date.parse(end_date);
  return { start: new Date(start).toISOString(), end: new Date(Math.max(start, end)).toISOString() };
}

const metrics = ({ impressions, clicks, spend, conversions }: Delivered): JsonObject => ({
  impressions,
  spend,
  clicks,
  ...(impressions > 0 && { ctr: Math.round((clicks / impressions) * 1e6) / 1e6 }),
  ...(conversions > 0 && { conversions }),
});

/** A buy's line in reports and answers. */
export const deliveryOf = (call: Call, buy: MediaBuy, daily: boolean): JsonObject => ({
  media_buy_id: buy.media_buy_id,
  status: stateOf(call, buy),
  totals: metrics(deliveredByBuy(call, buy)),
  by_package: buy.packages.map((one) => shownPackage(call, buy, one, daily)),
});

function shownPackage(call: Call, buy: MediaBuy, one: Package, daily: boolean): JsonObject {
  const delivered = deliveredOf(call, buy, one);
  const option = findProduct(call, one.product_id)?.pricing_options.find(
    ({ pricing_option_id }) => pricing_option_id === one.pricing_option_id,
  );
  return {
    package_id: one.package_id,
    ...metrics(delivered),
    pricing_model: option?.pricing_model ?? "cpm",
    rate: one.bid_price ?? option?.fixed_price ?? option?.floor_price ?? 0,
    currency: one.currency,
    paused: one.paused,
    ...(daily && { daily_breakdown: byDay(call, one, buy, delivered) }),
  };
}

/** The figures are kept per buy: they stand on the last day that has passed. */
function byDay(call: Call, { start_time }: Package, buy: MediaBuy, { impressions, spend }: Delivered): JsonObject[] {
  if (impressions === 0 && spend === 0) return [];
  const last = Math.min(call.now.getTime(), Math.max(Date.parse(endOf(buy)), Date.parse(start_time)));
  const date = new Date(Math.floor(last / DAY_MS) * DAY_MS).toISOString().slice(0, 10);
  return [{ date, impressions, spend }];
}
