/** Whether there is enough of a product, and when it is wanted: as far as the catalogue knows. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { itemsIn } from "../frame/items-in.js";
import type { Product } from "../ports/catalogue.js";
import { queryOf } from "./products.js";

interface Availability {
  readonly start_date?: string;
  readonly end_date?: string;
  readonly min_exposures?: number;
  readonly budget_range?: { readonly min?: number; readonly currency?: string };
}

const mostOf = (range: unknown): number =>
  typeof range === "number" ? range : isJsonObject(range) ? Number(range.high ?? range.mid ?? range.low) : Number.NaN;

/** What there is in all, where a forecast says that: one of what money buys has no upper end. */
function exposures(forecast: unknown): number | undefined {
  if (!isJsonObject(forecast) || forecast.forecast_range_unit !== "availability") return undefined;
  const all = itemsIn<JsonObject>(forecast.points)
    .map(({ metrics }) => mostOf((metrics as JsonObject | undefined)?.impressions))
    .filter((one) => !Number.isNaN(one));
  return all.length === 0 ? undefined : Math.max(...all);
}

/** Where the budget is not said, it is the least that can be spent. */
const budgetFor = ({ pricing_options: options }: Product, { budget_range: range }: Availability): number =>
  Math.max(range?.min ?? 0, Math.min(...options.map(({ min_spend_per_package: least = 0 }) => least)));

export async function isAvailable(call: BehaviourCall, product: Product, filters: Availability): Promise<boolean> {
  const { start_date: start, end_date: end, min_exposures: least } = filters;
  const { catalogue } = call.ports;
  if (start !== undefined && end !== undefined && catalogue.unavailable !== undefined) {
    const flight = { start: `${start}T00:00:00Z`, end: `${end}T23:59:59Z`, budget: budgetFor(product, filters) };
    if ((await catalogue.unavailable({ ...queryOf(call), product, ...flight })) !== undefined) return false;
  }
  if (least === undefined) return true;
  const forecast = (await catalogue.forecast?.({ ...queryOf(call), product })) ?? product.more?.forecast;
  return (exposures(forecast) ?? least) >= least;
}
