import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { AccountRef } from "../accounts/accounts.js";
import { type BuyPackage, buyState, buysOf, endOf, findBuy, type MediaBuy, startOf } from "../buys/buys.js";
import type { ReportContent, ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import type { DeliveredTotals } from "../ports/ad-server.js";
import { findProduct } from "../products/products.js";
import { type ExactRead, exactReport } from "../reporting/exact.js";
import { deliveredByPackage, deliveredOf } from "./delivered.js";
import { added, type DeliveryDays, nothing, simulatedFields } from "./simulated.js";

interface Wanted {
  /** One report of a feed, exactly. */
  readonly reporting_revision_id?: string;
  readonly account?: AccountRef;
  readonly media_buy_ids?: readonly string[];
  readonly status_filter?: string | readonly string[];
  readonly start_date?: string;
  readonly end_date?: string;
  readonly include_package_daily_breakdown?: boolean;
}

const DAY_MS = 86_400_000;

const isExact = (request: Wanted): request is ExactRead =>
  request.reporting_revision_id !== undefined && request.account !== undefined;

/** `get_media_buy_delivery`: figures per buy and package, and their sum. */
export const reportDelivery: ToolBehaviour = async (request: Wanted, call) => {
  if (isExact(request)) return call.answer(await exactReport(call, request));
  const { account, media_buy_ids: wanted, status_filter: filter, start_date: from, end_date: before } = request;
  if (from !== undefined && before !== undefined && before <= from)
    throw new ToolError(
      call.shapes.knowsError("VALIDATION_ERROR") ? "VALIDATION_ERROR" : "INVALID_REQUEST",
      `no day is from ${from} on and before ${before}`,
      { field: "start_date" },
    );
  const own = await buysOf(call, { account, ids: wanted });
  const states = filter === undefined ? undefined : new Set<string>([filter].flat());
  const stated = await Promise.all(own.map(async (buy) => ({ buy, state: await buyState(call, buy) })));
  const fitting = stated.filter(({ state }) => states === undefined || states.has(state)).map(({ buy }) => buy);
  const known = new Set(own.map(({ media_buy_id }) => media_buy_id));
  const missing = (wanted ?? []).filter((id) => !known.has(id));
  const days = { from, before };
  const daily = request.include_package_daily_breakdown === true;
  const totals = (await Promise.all(fitting.map((buy) => deliveredOf(call, buy, days)))).reduce(added, nothing);
  return call.answer({
    reporting_period: periodOf(call, request, fitting),
    currency: fitting[0]?.currency ?? "USD",
    aggregated_totals: { ...metrics(totals), media_buy_count: fitting.length },
    media_buy_deliveries: await Promise.all(fitting.map((buy) => deliveryOf(call, buy, { daily, days }))),
    ...(missing.length > 0 && {
      errors: missing.map(() => ({ code: "MEDIA_BUY_NOT_FOUND", message: "there is no such media buy" })),
    }),
  });
};

/** What `get_media_buy_delivery` says of the buy, as it is when the report is due. */
export async function deliveryReport(call: BehaviourCall, mediaBuyId: string): Promise<ReportContent | undefined> {
  const buy = await findBuy(call, mediaBuyId);
  if (buy === undefined) return undefined;
  const shape = call.shapes.answer("get_media_buy_delivery");
  const { media_buy_deliveries } = shape.fit({
    media_buy_deliveries: [await deliveryOf(call, buy, { daily: false, days: {} })],
  });
  return { currency: buy.currency, media_buy_deliveries: media_buy_deliveries as JsonObject[] };
}

/** The days asked for; else from the first start until now. */
function periodOf(call: BehaviourCall, { start_date, end_date }: Wanted, buys: readonly MediaBuy[]): JsonObject {
  const starts = buys.map((buy) => Date.parse(startOf(buy)));
  const now = call.now.getTime();
  const start = start_date === undefined ? Math.min(now, ...starts) : Date.parse(start_date);
  const end = end_date === undefined ? now : Date.parse(end_date);
  return { start: new Date(start).toISOString(), end: new Date(Math.max(start, end)).toISOString() };
}

const metrics = ({ impressions, clicks, spend, conversions, views }: DeliveredTotals): JsonObject => ({
  impressions,
  spend,
  clicks,
  ...(impressions > 0 && { ctr: Math.round((clicks / impressions) * 1e6) / 1e6 }),
  ...(conversions > 0 && { conversions, cost_per_acquisition: Math.round((spend / conversions) * 1e4) / 1e4 }),
  ...(views !== undefined && {
    views,
    completed_views: views,
    ...(impressions > 0 && { completion_rate: Math.min(1, Math.round((views / impressions) * 1e4) / 1e4) }),
  }),
});

/** A buy's line in reports and answers. */
async function deliveryOf(
  call: BehaviourCall,
  buy: MediaBuy,
  { daily, days }: { readonly daily: boolean; readonly days: DeliveryDays },
): Promise<JsonObject> {
  const lines = await deliveredByPackage(call, buy, days);
  const fields = await simulatedFields(call, buy);
  return {
    media_buy_id: buy.media_buy_id,
    currency: buy.currency,
    status: await buyState(call, buy),
    ...fields,
    totals: { ...metrics(await deliveredOf(call, buy, days)), ...fields },
    by_package: await Promise.all(
      buy.packages.map((one) =>
        shownLine(call, buy, one, { delivered: lines.get(one.package_id) ?? nothing, daily, fields }),
      ),
    ),
  };
}

async function shownLine(
  call: BehaviourCall,
  buy: MediaBuy,
  one: BuyPackage,
  { delivered, daily, fields }: { delivered: DeliveredTotals; daily: boolean; fields: JsonObject },
): Promise<JsonObject> {
  const option = (await findProduct(call, one.product_id))?.pricing_options.find(
    ({ pricing_option_id }) => pricing_option_id === one.pricing_option_id,
  );
  return {
    package_id: one.package_id,
    ...metrics(delivered),
    ...fields,
    pricing_model: option?.pricing_model ?? "cpm",
    rate: one.bid_price ?? option?.fixed_price ?? option?.floor_price ?? 0,
    currency: one.currency,
    paused: one.paused,
    ...(daily && { daily_breakdown: byDay(call, buy, delivered) }),
  };
}

/** The figures are totals: they stand on the last day that has passed. */
function byDay(call: BehaviourCall, buy: MediaBuy, { impressions, spend }: DeliveredTotals): JsonObject[] {
  if (impressions === 0 && spend === 0) return [];
  const last = Math.min(call.now.getTime(), Math.max(Date.parse(endOf(buy)), Date.parse(startOf(buy))));
  const date = new Date(Math.floor(last / DAY_MS) * DAY_MS).toISOString().slice(0, 10);
  return [{ date, impressions, spend }];
}
