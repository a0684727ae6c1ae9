import { setImmediate as nextTurn } from "node:timers/promises";
import { UTC } from "../../calendar.js";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { AccountRef } from "../accounts/accounts.js";
import { type BuyPackage, buyState, buysOf, endOf, findBuy, type MediaBuy, saveBuy, startOf } from "../buys/buys.js";
import type { ReportContent, ReportWanted, ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { invalid } from "../frame/invalid.js";
import type { DeliveredTotals } from "../ports/ad-server.js";
import { findProduct } from "../products/products.js";
import { type ExactRead, exactReport } from "../reporting/exact.js";
import { breakdownsOf } from "./breakdowns.js";
import { checkDay, type DeliveredDay, deliveredByDay } from "./days.js";
import { deliveredByPackage, deliveredOf } from "./delivered.js";
import { metrics, type Narrowing, narrowedTo } from "./metrics.js";
import { buyZone, figuresFor, type Period, reportingOfAll, sharedZone, windowsIn } from "./periods.js";
import { added, beginningOf, type DeliveryDays, nothing, simulatedFields } from "./simulated.js";

interface Wanted {
  /** One report of a feed, exactly. */
  readonly reporting_revision_id?: string;
  readonly account?: AccountRef;
  readonly media_buy_ids?: readonly string[];
  readonly status_filter?: string | readonly string[];
  readonly start_date?: string;
  readonly end_date?: string;
  readonly include_package_daily_breakdown?: boolean;
  readonly requested_metrics?: readonly string[];
  readonly time_granularity?: string;
  readonly include_window_breakdown?: boolean;
  readonly reporting_dimensions?: JsonObject;
}

const isExact = (request: Wanted): request is ExactRead =>
  request.reporting_revision_id !== undefined && request.account !== undefined;

/** `get_media_buy_delivery`: figures per buy and package, and their sum. */
export const reportDelivery: ToolBehaviour = async (request: Wanted, call) => {
  if (isExact(request)) return call.answer(await exactReport(call, request));
  const { account, media_buy_ids: wanted, status_filter: filter } = request;
  checkDates(call, request);
  const own = await buysOf(call, { account, ids: wanted });
  const states = filter === undefined ? undefined : new Set<string>([filter].flat());
  const stated = await Promise.all(own.map(async (buy) => ({ buy, state: await buyState(call, buy) })));
  const fitting = stated.filter(({ state }) => states === undefined || states.has(state)).map(({ buy }) => buy);
  await checkGranularity(call, request, fitting);
  const known = new Set(own.map(({ media_buy_id }) => media_buy_id));
  const missing = (wanted ?? []).filter((id) => !known.has(id));
  const zone = await zoneOfAll(call, request, fitting);
  const days = { from: request.start_date, before: request.end_date, timezone: zone ?? UTC };
  const daily = request.include_package_daily_breakdown === true;
  const only = narrowedTo(call, request.requested_metrics);
  const { reporting_dimensions: dimensions } = request;
  const deliveries: JsonObject[] = [];
  for (const buy of fitting) {
    // A year of a thousand buys takes many seconds, in which others are answered too.
    await nextTurn();
    const windows = await windowsOf(call, buy, request);
    deliveries.push({
      ...(await deliveryOf(call, buy, { daily, days, only, dimensions })),
      ...(windows && { windows }),
    });
  }
  return call.answer({
    reporting_period: { ...periodOf(call, days, fitting), ...(fitting.length > 0 && { timezone: zone }) },
    ...(await aggregated(call, fitting, { days, only })),
    media_buy_deliveries: deliveries,
    ...(missing.length > 0 && {
      errors: missing.map(() => ({ code: "MEDIA_BUY_NOT_FOUND", message: "there is no such media buy" })),
    }),
  });
};

/** @throws ToolError for days that no calendar has, and a time without any */
function checkDates(call: BehaviourCall, { start_date: from, end_date: before }: Wanted): void {
  checkDay(from, "start_date");
  checkDay(before, "end_date");
  if (from !== undefined && before !== undefined && before <= from)
    throw invalid(call, `no day is from ${from} on and before ${before}`, "start_date");
}

/**
 * The time zone that all of them are reported in; undefined where there are several.
 * @throws ToolError where days are asked for: each would be another time for some of them, or has no figures of its own
 */
async function zoneOfAll(
  call: BehaviourCall,
  { start_date: from, end_date: before }: Wanted,
  buys: readonly MediaBuy[],
): Promise<string | undefined> {
  const packages = buys.flatMap((buy) => buy.packages);
  const zone = await sharedZone(call, packages);
  if ((from ?? before) === undefined) return zone;
  const whole = (await reportingOfAll(call, { packages })).some((one) => one.date_range_support === "lifetime_only");
  if (whole)
    throw invalid(
      call,
      "a product of these has figures of its whole time only: leave out start_date and end_date",
      "start_date",
    );
  if (zone !== undefined) return zone;
  throw invalid(
    call,
    "these are reported in several time zones: ask for buys that share one, or leave out start_date and end_date",
    "start_date",
  );
}

/** Figures of all buys: amounts of several currencies have no sum. */
async function aggregated(
  call: BehaviourCall,
  buys: readonly MediaBuy[],
  { days, only }: { readonly days: DeliveryDays; readonly only: Narrowing },
): Promise<JsonObject> {
  const currency = buys[0]?.currency ?? "USD";
  if (buys.some((buy) => buy.currency !== currency))
    // Each buy says its own, where the release has a place for it; else its packages do, and this one is required.
    return call.shapes.answer("get_media_buy_delivery").has("media_buy_deliveries", "*", "currency")
      ? {}
      : { currency };
  const totals = (await Promise.all(buys.map((buy) => deliveredOf(call, buy, days)))).reduce(added, nothing);
  return { currency, aggregated_totals: { ...only(metrics(totals)), media_buy_count: buys.length } };
}

/** Windows are given where every product that was bought has them. @throws ToolError UNSUPPORTED_GRANULARITY */
async function checkGranularity(
  call: BehaviourCall,
  { time_granularity: wanted }: Wanted,
  buys: readonly MediaBuy[],
): Promise<void> {
  if (wanted === undefined || !call.shapes.knowsError("UNSUPPORTED_GRANULARITY")) return;
  const packages = buys.flatMap((buy) => buy.packages);
  for (const { windowed_pull_granularities: declared } of await reportingOfAll(call, { packages })) {
    if (Array.isArray(declared) && declared.includes(wanted)) continue;
    const message = `figures are not kept by ${wanted} windows: leave it out, and ask by start_date and end_date`;
    throw new ToolError("UNSUPPORTED_GRANULARITY", message, { field: "time_granularity" });
  }
}

/** Windows of one buy at most: a month of hours, and some. Each is a question to who has the figures. */
const MOST_WINDOWS = 800;
const AT_A_TIME = 7;

/**
 * What was delivered in each window of the days asked for that has begun; undefined where nobody asks.
 * @throws ToolError INVALID_REQUEST where there are too many
 */
async function windowsOf(
  call: BehaviourCall,
  buy: MediaBuy,
  { time_granularity: granularity, include_window_breakdown: wanted, ...request }: Wanted,
): Promise<JsonObject[] | undefined> {
  const shape = call.shapes.answer("get_media_buy_delivery");
  if (wanted !== true || granularity === undefined || !shape.has("media_buy_deliveries", "*", "windows"))
    return undefined;
  const { start_date: from, end_date: before } = request;
  const now = call.now.getTime();
  const timezone = await buyZone(call, buy.packages);
  const start = beginningOf(from ?? startOf(buy), timezone);
  const end = Math.min(now, beginningOf(before ?? endOf(buy), timezone));
  const periods = windowsIn(granularity, { start, end, timezone }, MOST_WINDOWS);
  if (periods === undefined)
    throw new ToolError("INVALID_REQUEST", `there are more than ${MOST_WINDOWS} windows in that time: ask for less`, {
      field: "start_date",
    });
  const only = narrowedTo(call, request.requested_metrics);
  const shown: JsonObject[] = [];
  for (let at = 0; at < periods.length; at += AT_A_TIME) {
    await nextTurn();
    const some = periods.slice(at, at + AT_A_TIME);
    shown.push(...(await Promise.all(some.map((period) => windowOf(call, buy, { ...period, timezone }, only)))));
  }
  return shown;
}

async function windowOf(
  call: BehaviourCall,
  buy: MediaBuy,
  period: Period & { readonly timezone: string },
  only: Narrowing,
): Promise<JsonObject> {
  const days = await figuresFor(call, buy, period);
  const lines = await deliveredByPackage(call, buy, days);
  const [window_start, window_end] = [period.start, period.end].map((ms) => new Date(ms).toISOString());
  return {
    ...{ window_start, window_end },
    totals: only(metrics(await deliveredOf(call, buy, days))),
    by_package: await Promise.all(
      buy.packages.map((one) =>
        shownLine(call, one, {
          ...{ delivered: lines.get(one.package_id) ?? nothing, daily: undefined, fields: {} },
          only,
        }),
      ),
    ),
  };
}

/**
 * What `get_media_buy_delivery` says of the buy, as it is when the report is due: of the report's period, so that reports add up.
 * A buy whose time is over ends here: its next report is its last.
 */
export async function deliveryReport(call: BehaviourCall, wanted: ReportWanted): Promise<ReportContent | undefined> {
  const buy = await findBuy(call, wanted.mediaBuyId);
  if (buy === undefined) return undefined;
  if (buy.fixed === undefined && (await buyState(call, buy)) === "completed")
    await saveBuy(call, { ...buy, fixed: "completed" });
  const shape = call.shapes.answer("get_media_buy_delivery");
  const days = await figuresFor(call, buy, { ...wanted.period, timezone: wanted.timezone });
  const only = narrowedTo(call, wanted.requestedMetrics);
  const { media_buy_deliveries } = shape.fit({
    media_buy_deliveries: [await deliveryOf(call, buy, { daily: false, days, only })],
  });
  return { currency: buy.currency, media_buy_deliveries: media_buy_deliveries as JsonObject[] };
}

/** The days asked for; else from the first start until now. */
function periodOf(
  call: BehaviourCall,
  { from, before, timezone }: DeliveryDays,
  buys: readonly MediaBuy[],
): JsonObject {
  const starts = buys.map((buy) => Date.parse(startOf(buy)));
  const now = call.now.getTime();
  const start = from === undefined ? Math.min(now, ...starts) : beginningOf(from, timezone);
  const end = before === undefined ? now : beginningOf(before, timezone);
  return { start: new Date(start).toISOString(), end: new Date(Math.max(start, end)).toISOString() };
}

/** A buy's line in reports and answers. */
async function deliveryOf(
  call: BehaviourCall,
  buy: MediaBuy,
  {
    daily,
    days,
    only,
    dimensions,
  }: {
    readonly daily: boolean;
    readonly days: DeliveryDays;
    readonly only: Narrowing;
    readonly dimensions?: JsonObject | undefined;
  },
): Promise<JsonObject> {
  const lines = await deliveredByPackage(call, buy, days);
  const fields = await simulatedFields(call, buy);
  const byDay = daily ? await deliveredByDay(call, buy, days) : undefined;
  return {
    ...only(fields),
    media_buy_id: buy.media_buy_id,
    currency: buy.currency,
    status: await buyState(call, buy),
    totals: only({ ...metrics(await deliveredOf(call, buy, days)), ...fields }),
    by_package: await Promise.all(
      buy.packages.map(async (one) => {
        const delivered = lines.get(one.package_id) ?? nothing;
        const daily = byDay?.get(one.package_id);
        return {
          ...(await shownLine(call, one, { delivered, daily, fields, only })),
          ...(dimensions !== undefined &&
            (await breakdownsOf(call, one, { wanted: dimensions, buy, days, delivered: isSome(delivered), only }))),
        };
      }),
    ),
  };
}

const isSome = ({ impressions, spend }: DeliveredTotals): boolean => impressions > 0 || spend > 0;

async function shownLine(
  call: BehaviourCall,
  one: BuyPackage,
  {
    delivered,
    daily,
    fields,
    only,
  }: {
    delivered: DeliveredTotals;
    daily: readonly DeliveredDay[] | undefined;
    fields: JsonObject;
    only: Narrowing;
  },
): Promise<JsonObject> {
  const product = await findProduct(call, one.product_id);
  const option = product?.pricing_options.find(({ pricing_option_id }) => pricing_option_id === one.pricing_option_id);
  return {
    package_id: one.package_id,
    ...only({ ...metrics(delivered), ...fields }),
    pricing_model: option?.pricing_model ?? "cpm",
    rate: one.bid_price ?? option?.fixed_price ?? option?.floor_price ?? 0,
    currency: one.currency,
    paused: one.paused,
    ...(daily !== undefined && { daily_breakdown: daily }),
  };
}
