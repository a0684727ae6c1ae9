import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { AccountRef } from "../accounts/accounts.js";
import { type BuyPackage, buyState, buysOf, findBuy, type MediaBuy, startOf } from "../buys/buys.js";
import type { ReportContent, ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import type { DeliveredTotals } from "../ports/ad-server.js";
import { findProduct } from "../products/products.js";
import { type ExactRead, exactReport } from "../reporting/exact.js";
import { checkDay, type DeliveredDay, deliveredByDay } from "./days.js";
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
  readonly time_granularity?: string;
}

const isExact = (request: Wanted): request is ExactRead =>
  request.reporting_revision_id !== undefined && request.account !== undefined;

/** `get_media_buy_delivery`: figures per buy and package, and their sum. */
export const reportDelivery: ToolBehaviour = async (request: Wanted, call) => {
  if (isExact(request)) return call.answer(await exactReport(call, request));
  const { account, media_buy_ids: wanted, status_filter: filter, start_date: from, end_date: before } = request;
  checkDay(from, "start_date");
  checkDay(before, "end_date");
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
  await checkGranularity(call, request, fitting);
  const known = new Set(own.map(({ media_buy_id }) => media_buy_id));
  const missing = (wanted ?? []).filter((id) => !known.has(id));
  const days = { from, before };
  const daily = request.include_package_daily_breakdown === true;
  return call.answer({
    reporting_period: periodOf(call, request, fitting),
    ...(await aggregated(call, fitting, days)),
    media_buy_deliveries: await Promise.all(fitting.map((buy) => deliveryOf(call, buy, { daily, days }))),
    ...(missing.length > 0 && {
      errors: missing.map(() => ({ code: "MEDIA_BUY_NOT_FOUND", message: "there is no such media buy" })),
    }),
  });
};

/** Figures of all buys: amounts of several currencies have no sum. */
async function aggregated(call: BehaviourCall, buys: readonly MediaBuy[], days: DeliveryDays): Promise<JsonObject> {
  const currency = buys[0]?.currency ?? "USD";
  if (buys.some((buy) => buy.currency !== currency))
    // Each buy says its own, where the release has a place for it; else its packages do, and this one is required.
    return call.shapes.answer("get_media_buy_delivery").has("media_buy_deliveries", "*", "currency")
      ? {}
      : { currency };
  const totals = (await Promise.all(buys.map((buy) => deliveredOf(call, buy, days)))).reduce(added, nothing);
  return { currency, aggregated_totals: { ...metrics(totals), media_buy_count: buys.length } };
}

/** Windows are given where every product that was bought has them. @throws ToolError UNSUPPORTED_GRANULARITY */
async function checkGranularity(
  call: BehaviourCall,
  { time_granularity: wanted }: Wanted,
  buys: readonly MediaBuy[],
): Promise<void> {
  if (wanted === undefined || !call.shapes.knowsError("UNSUPPORTED_GRANULARITY")) return;
  const ids = new Set(buys.flatMap(({ packages }) => packages.map(({ product_id }) => product_id)));
  for (const id of ids) {
    const declared = (await findProduct(call, id))?.reporting_capabilities?.windowed_pull_granularities;
    if (Array.isArray(declared) && declared.includes(wanted)) continue;
    const message = `figures are not kept by ${wanted} windows: leave it out, and ask by start_date and end_date`;
    throw new ToolError("UNSUPPORTED_GRANULARITY", message, { field: "time_granularity" });
  }
}

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
  ...(impressions > 0 && { ctr: Math.min(1, Math.round((clicks / impressions) * 1e6) / 1e6) }),
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
  const byDay = daily ? await deliveredByDay(call, buy, days) : undefined;
  return {
    ...fields,
    media_buy_id: buy.media_buy_id,
    currency: buy.currency,
    status: await buyState(call, buy),
    totals: { ...metrics(await deliveredOf(call, buy, days)), ...fields },
    by_package: await Promise.all(
      buy.packages.map((one) =>
        shownLine(call, one, {
          delivered: lines.get(one.package_id) ?? nothing,
          daily: byDay?.get(one.package_id),
          fields,
        }),
      ),
    ),
  };
}

async function shownLine(
  call: BehaviourCall,
  one: BuyPackage,
  {
    delivered,
    daily,
    fields,
  }: { delivered: DeliveredTotals; daily: readonly DeliveredDay[] | undefined; fields: JsonObject },
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
    ...(daily !== undefined && { daily_breakdown: daily }),
  };
}
