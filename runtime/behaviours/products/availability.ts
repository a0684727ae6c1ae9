/** Whether there is enough of a product, and when it is wanted: as far as the catalogue knows. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { itemsIn } from "../frame/items-in.js";
import type { Product } from "../ports/catalogue.js";
import { queryOf } from "./products.js";

interface Availability {
  readonly start_date?: string;
  readonly end_date?: string;
  readonly min_exposures?: number;
  readonly budget_range?: { readonly min?: number; readonly max?: number; readonly currency?: string };
}

const mostOf = (range: unknown): number =>
  typeof range === "number" ? range : isJsonObject(range) ? Number(range.high ?? range.mid ?? range.low) : Number.NaN;

/** An exposure by the words that forecasts have for it: the seller's count, somebody else's, and that of what is downloaded. */
const exposing = ["impressions", "measured_impressions", "downloads"] as const;

/** The most that a point of a forecast has; NaN where it says nothing of exposures. */
function exposedAt({ metrics }: JsonObject): number {
  const counts = isJsonObject(metrics) ? exposing.map((name) => mostOf(metrics[name])) : [];
  const said = counts.filter((one) => !Number.isNaN(one));
  return said.length === 0 ? Number.NaN : Math.max(...said);
}

/** The point that a budget does not go beyond; a curve that ends before it says nothing of what more money buys. */
function boundFor({ points, currency }: JsonObject, { budget_range: range }: Availability): number | undefined {
  if (range?.max === undefined || (currency ?? range.currency) !== range.currency) return undefined;
  const dear = itemsIn<JsonObject>(points).filter(({ budget }) => typeof budget === "number" && budget >= range.max!);
  const least = Math.min(...dear.map(({ budget }) => budget as number));
  const counts = dear.filter(({ budget }) => budget === least).map(exposedAt);
  return counts.some((one) => Number.isNaN(one)) || counts.length === 0 ? undefined : Math.max(...counts);
}

const DAY_MS = 86_400_000;

/** Days of a flight, the last included; undefined where its dates are not known. */
const daysOf = ({ start_date: start, end_date: end }: Availability): number | undefined =>
  start === undefined || end === undefined ? undefined : (Date.parse(end) - Date.parse(start)) / DAY_MS + 1;

/** The most exposures that there are for what a buyer asks, where a forecast says that: of what money buys, by the most he has. */
function exposures(forecast: unknown, filters: Availability): number | undefined {
  if (!isJsonObject(forecast)) return undefined;
  const { forecast_range_unit: unit = "spend", points } = forecast;
  const days = daysOf(filters);
  if (unit === "availability") {
    const all = itemsIn<JsonObject>(points)
      .map(exposedAt)
      .filter((one) => !Number.isNaN(one));
    return all.length === 0 ? undefined : Math.max(...all);
  }
  const times = { spend: 1, daily: days, weekly: days && Math.ceil(days / 7) }[unit as string];
  const bound = times === undefined ? undefined : boundFor(forecast, filters);
  return bound === undefined ? undefined : bound * times!;
}

/** Where the budget is not said, it is the least that can be spent. */
const budgetFor = ({ pricing_options: options }: Product, { budget_range: range }: Availability): number =>
  Math.max(range?.min ?? 0, Math.min(...options.map(({ min_spend_per_package: least = 0 }) => least)));

/** @throws ToolError INVALID_REQUEST for a flight that would end before it starts */
export function checkFlight({ start_date: start, end_date: end }: Availability): void {
  if (start === undefined || end === undefined || start <= end) return;
  throw new ToolError("INVALID_REQUEST", `it would end (${end}) before it starts (${start})`, {
    field: "filters.end_date",
  });
}

/** A day that is said alone is the first or the last of the flight: on that one at least the product has to be there. */
export async function isAvailable(call: BehaviourCall, product: Product, filters: Availability): Promise<boolean> {
  const { min_exposures: least } = filters;
  const { start_date: start = filters.end_date, end_date: end = filters.start_date } = filters;
  const { catalogue } = call.ports;
  if (start !== undefined && catalogue.unavailable !== undefined) {
    const flight = { start: `${start}T00:00:00Z`, end: `${end}T23:59:59Z`, budget: budgetFor(product, filters) };
    if ((await catalogue.unavailable({ ...queryOf(call), product, ...flight })) !== undefined) return false;
  }
  if (least === undefined) return true;
  const forecast = (await catalogue.forecast?.({ ...queryOf(call), product })) ?? product.more?.forecast;
  return (exposures(forecast, filters) ?? least) >= least;
}
