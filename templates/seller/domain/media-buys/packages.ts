/** Making packages from what a buyer asks for, and all that can be wrong with that. */
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { isAuction, type PricingOption, type Product, product } from "../products/products.js";
import type { Assignment, Package } from "./media-buy.js";
import { checkTerms } from "./terms.js";

type Wanted = NonNullable<Request<"create_media_buy">["packages"]>[number];

/** When the buy runs, where a package does not say otherwise. */
export interface Flight {
  readonly start: string;
  readonly end: string;
}

/** Fields of a package that are the buyer's and stay as given. */
const kept = [
  "targeting_overlay",
  "pacing",
  "impressions",
  "optimization_goals",
  "measurement_terms",
  "performance_standards",
  "catalogs",
  "agency_estimate_number",
  "context",
  "ext",
];

export const keptTerms = (source: JsonObject): JsonObject =>
  Object.fromEntries(kept.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]]])));

/**
 * A package of a new buy.
 * @param field where it stands in the request
 * @throws ToolError PRODUCT_NOT_FOUND, INVALID_REQUEST, BUDGET_TOO_LOW, TERMS_REJECTED
 */
export function newPackage(call: Call, wanted: Wanted, flight: Flight, field: string): Package {
  const found = product(call, wanted.product_id, `${field}.product_id`);
  const option = pricingOption(found, wanted.pricing_option_id, field);
  const budget = givenBudget(wanted.budget, field);
  checkPrice(option, wanted, field);
  checkFormats(call, found, wanted, field);
  checkTerms(wanted as object, field);
  const start = wanted.start_time ?? flight.start;
  const end = wanted.end_time ?? flight.end;
  checkDates(start, end, field);
  return {
    package_id: call.id("pkg"),
    product_id: found.product_id,
    pricing_option_id: option.pricing_option_id,
    budget,
    currency: option.currency,
    ...(isAuction(option) && wanted.bid_price !== undefined && { bid_price: wanted.bid_price }),
    start_time: start,
    end_time: end,
    paused: wanted.paused === true,
    creative_assignments: assignments(wanted.creative_assignments, wanted.creatives),
    terms: keptTerms({ ...wanted }),
  };
}

/** What is assigned by name, and what is uploaded with it. */
export const assignments = (
  named: readonly { creative_id: string; weight?: number; placement_ids?: readonly string[] }[] | undefined,
  uploaded: readonly { creative_id: string }[] | undefined,
): Assignment[] => [
  ...(named ?? []).map(({ creative_id, weight, placement_ids }) => ({
    creative_id,
    ...(weight !== undefined && { weight }),
    ...(placement_ids !== undefined && { placement_ids }),
  })),
  ...(uploaded ?? []).map(({ creative_id }) => ({ creative_id })),
];

export function pricingOption({ product_id, pricing_options }: Product, id: string, field: string): PricingOption {
  const option = pricing_options.find(({ pricing_option_id }) => pricing_option_id === id);
  if (option !== undefined) return option;
  const offered = pricing_options.map(({ pricing_option_id }) => pricing_option_id).join(", ");
  throw new ToolError("INVALID_REQUEST", `product ${product_id} has no pricing option ${id}; it has ${offered}`, {
    field: `${field}.pricing_option_id`,
  });
}

/** Budgets are fixed here, package by package: none moves to another. @throws ToolError INVALID_REQUEST */
export function givenBudget(budget: number | null | undefined, field: string): number {
  if (typeof budget === "number") return budget;
  throw new ToolError("INVALID_REQUEST", "every package has a budget of its own here", { field: `${field}.budget` });
}

/** @throws ToolError BUDGET_TOO_LOW, INVALID_REQUEST for a bid below the floor */
export function checkPrice(
  option: PricingOption,
  { budget, bid_price }: { readonly budget?: number | null; readonly bid_price?: number },
  field: string,
): void {
  const { min_spend_per_package: least = 0, floor_price: floor = 0, currency } = option;
  if (typeof budget === "number" && (budget <= 0 || budget < least))
    throw new ToolError(
      "BUDGET_TOO_LOW",
      `a package of this product costs at least ${Math.max(least, 1)} ${currency}`,
      {
        field: `${field}.budget`,
      },
    );
  if (isAuction(option) && bid_price !== undefined && bid_price < floor)
    throw new ToolError("INVALID_REQUEST", `bids start at ${floor} ${currency}`, { field: `${field}.bid_price` });
}

function checkFormats(call: Call, { product_id, formats }: Product, { format_ids }: Wanted, field: string): void {
  const foreign = (format_ids ?? []).find(({ agent_url, id }) => agent_url !== call.agentUrl || !formats.includes(id));
  if (foreign !== undefined)
    throw new ToolError("INVALID_REQUEST", `product ${product_id} does not take format ${foreign.id}`, {
      field: `${field}.format_ids`,
    });
}

/** @throws ToolError INVALID_REQUEST */
export function checkDates(start: string, end: string, field: string): void {
  if (Date.parse(end) <= Date.parse(start))
    throw new ToolError("INVALID_REQUEST", `it would end (${end}) before it starts (${start})`, {
      field: field === "" ? "end_time" : `${field}.end_time`,
    });
}
