/** Making packages from what a buyer asks for, and all that can be wrong with that. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BuyPackage } from "../buys/buys.js";
import type { NamedByBuyer } from "../buys/targets.js";
import { formatId, formatsNamed, sameFormat } from "../formats/formats.js";
import type { DeclaredOption } from "../formats/options.js";
import type { BehaviourCall } from "../frame/call.js";
import { coinsIn, inCoins, summed } from "../frame/currency.js";
import type { CreativeAssignment } from "../ports/ad-server.js";
import type { PricingOption, Product } from "../ports/catalogue.js";
import type { CreativeUpload, FormatId } from "../ports/creatives.js";
import { concreteCollections } from "../products/collections.js";
import { findConfigured } from "../products/configured.js";
import { checkOverlay, overlaySaid } from "../products/overlay.js";
import { checkedPricing, checkUnexpired, isAuction, productOf, shownProduct } from "../products/products.js";
import { assignments, checkAssigned, checkSuitable } from "./assigned.js";
import { checkAvailable } from "./available.js";
import { checkBound } from "./bound.js";
import { checkDates, checkEnd, checkWithin } from "./dates.js";
import { committedMetrics } from "./metrics.js";
import { boundOverlay, targetingTerms } from "./targeting.js";
import { checkTerms, type ProposedTerms } from "./terms.js";
import { changedTerms } from "./whole.js";

export interface WantedPackage extends ProposedTerms, NamedByBuyer {
  readonly product_id: string;
  readonly pricing_option_id: string;
  readonly budget?: number | null;
  readonly bid_price?: number;
  readonly start_time?: string;
  readonly end_time?: string;
  readonly paused?: boolean;
  readonly bidding?: JsonObject | null;
  readonly daily_budget_cap?: number | null;
  readonly format_ids?: readonly FormatId[];
  readonly format_option_refs?: readonly { readonly format_option_id?: string }[];
  readonly format_kind?: string;
  readonly params?: JsonObject;
  readonly creative_assignments?: readonly CreativeAssignment[];
  readonly creatives?: readonly CreativeUpload[];
}

/** When the buy runs, where a package does not say otherwise. */
export interface Flight {
  readonly start: string;
  readonly end: string;
}

/** When a package runs where it does not say so itself, and whose it is. */
interface Ordered extends Flight {
  readonly accountId: string;
}

/** Fields of a package that are the buyer's and stay as given; a release gets those it knows. What is looked into is not here. */
const kept = [
  "pacing",
  "impressions",
  "optimization_goals",
  "measurement_terms",
  "performance_standards",
  "catalogs",
  "catalog_ids",
  "format_ids",
  "format_option_refs",
  "format_kind",
  "params",
  "bidding",
  "daily_budget_cap",
  "agency_estimate_number",
  "context",
  "ext",
];

export const keptTerms = (source: object): JsonObject =>
  Object.fromEntries(Object.entries(source).filter(([name, value]) => kept.includes(name) && value !== undefined));

/**
 * A package of a new buy.
 * @param field where it stands in the request
 * @throws ToolError PRODUCT_NOT_FOUND, INVALID_REQUEST, BUDGET_TOO_LOW, TERMS_REJECTED
 */
export async function newPackage(
  call: BehaviourCall,
  wanted: WantedPackage,
  flight: Ordered,
  field: string,
): Promise<BuyPackage> {
  const found = await productOf(call, wanted.product_id, `${field}.product_id`);
  const option = pricingOption(call, found, wanted.pricing_option_id, field);
  const budget = givenBudget(wanted.budget, option.currency, field);
  checkPrice(option, wanted, field);
  await checkFormats(call, found, wanted, field);
  await checkBound(call, wanted, { accountId: flight.accountId, field });
  checkUnexpired(call, found, `${field}.product_id`);
  const bound = (await findConfigured(call, found.product_id))?.overlay;
  const overlay = boundOverlay(bound, wanted.targeting_overlay);
  checkOverlay(found, overlay, { at: `${field}.targeting_overlay`, accepted: bound, ...overlaySaid(call) });
  checkTerms(call, wanted, found, field);
  const assigned = assignments(wanted.creative_assignments, wanted.creatives);
  checkAssigned(call, assigned, overlay, `${field}.creative_assignments`);
  const of = { accountId: flight.accountId, uploads: wanted.creatives, formats: wanted, field };
  await checkSuitable(call, found, assigned, of);
  const start = wanted.start_time ?? flight.start;
  const end = wanted.end_time ?? flight.end;
  checkDates(start, end, field);
  checkEnd(call, end, field);
  checkWithin({ start: wanted.start_time, end: wanted.end_time }, flight, field);
  await checkAvailable(call, { product: found, budget, start, end }, `${field}.product_id`);
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
    creative_assignments: assigned,
    terms: changedTerms(keptTerms(wanted), {
      ...targetingTerms(found, concreteCollections(found, overlay)),
      ...committedMetrics(call, { product: found, field }, wanted.committed_metrics),
    }),
  };
}

export function pricingOption(
  { shapes }: BehaviourCall,
  { product_id, pricing_options }: Product,
  id: string,
  field: string,
): PricingOption {
  const option = pricing_options.find(({ pricing_option_id }) => pricing_option_id === id);
  if (option !== undefined) return checkedPricing(option);
  const offered = pricing_options.map(({ pricing_option_id }) => pricing_option_id).join(", ");
  const code = shapes.knowsError("INVALID_PRICING_OPTION") ? "INVALID_PRICING_OPTION" : "INVALID_REQUEST";
  throw new ToolError(code, `product ${product_id} has no pricing option ${id}; it has ${offered}`, {
    field: `${field}.pricing_option_id`,
  });
}

/** The most that is taken, in the order's currency: cents of more are not held exactly by a number. */
const MOST = Number.MAX_SAFE_INTEGER / 100;

/** What several budgets come to. @throws ToolError INVALID_REQUEST where a number does not hold it to the cent */
export function countedSum(budgets: readonly number[], field: string): number {
  const sum = summed(budgets);
  if (sum <= MOST) return sum;
  throw new ToolError("INVALID_REQUEST", "together that is more than can be counted to the cent", { field });
}

/** What the sums of programs leave behind a coin, and no buyer means. */
const DUST = 1e-6;

/**
 * Budgets are fixed here, package by package: none moves to another. Nobody pays half a yen: what is between coins would be booked as one
 * sum, and shown, invoiced and added up as others.
 * @throws ToolError INVALID_REQUEST
 */
export function givenBudget(budget: number | null | undefined, currency: string, field: string): number {
  if (typeof budget !== "number")
    throw new ToolError("INVALID_REQUEST", "every package has a budget of its own here", { field: `${field}.budget` });
  if (budget > MOST)
    throw new ToolError("INVALID_REQUEST", "that is more than can be counted to the cent", {
      field: `${field}.budget`,
    });
  const paid = inCoins(budget, currency);
  if (budget > 0 && (paid === 0 || Math.abs(budget - paid) > Math.max(DUST, budget * 4 * Number.EPSILON)))
    throw new ToolError(
      "INVALID_REQUEST",
      `${budget} ${currency} cannot be paid: its smallest coin is ${1 / coinsIn(currency)}`,
      {
        field: `${field}.budget`,
      },
    );
  return paid;
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
      `a package of this product costs at least ${Math.max(least, 1 / coinsIn(currency))} ${currency}`,
      {
        field: `${field}.budget`,
      },
    );
  if (bid_price !== undefined && bid_price > MOST)
    throw new ToolError("INVALID_REQUEST", "that is more than can be counted to the cent", {
      field: `${field}.bid_price`,
    });
  if (isAuction(option) && bid_price !== undefined && bid_price < floor)
    throw new ToolError("INVALID_REQUEST", `bids start at ${floor} ${currency}`, { field: `${field}.bid_price` });
}

/** Older names say what they stand for by a size, or by how long it lasts. */
const isProjectable = ({ id }: FormatId): boolean => /\d+x\d+|_\d+s(?:_|$)/.test(id);

/** An option that is named, and a canonical format that is described beside it, have to be one. */
function checkRoutes(
  call: BehaviourCall,
  declared: readonly DeclaredOption[],
  wanted: WantedPackage,
  field: string,
): void {
  if (!call.shapes.knowsError("CONFLICTING_SELECTORS") || wanted.format_kind === undefined) return;
  for (const { format_option_id: id } of wanted.format_option_refs ?? []) {
    const option = declared.find((one) => one.format_option_id === id);
    if (option === undefined) continue;
    const { format_kind: kind, params: own = {} } = option;
    const other = Object.entries(wanted.params ?? {}).find(([name, value]) => name in own && own[name] !== value);
    if ((kind === undefined || kind === wanted.format_kind) && other === undefined) continue;
    throw new ToolError("CONFLICTING_SELECTORS", `format option ${id} is not the format described beside it`, {
      field: `${field}.${other === undefined ? "format_kind" : `params.${other[0]}`}`,
    });
  }
}

/**
 * A canonical format that is described has to be one that the product takes; a size that the product fixes has to be named.
 * @throws ToolError UNSUPPORTED_FEATURE
 */
async function checkKind(call: BehaviourCall, product: Product, wanted: WantedPackage, field: string): Promise<void> {
  const { format_kind: kind, params = {}, format_option_refs: refs = [] } = wanted;
  if (kind === undefined || refs.length > 0) return;
  const { format_options: options } = (await shownProduct(call, product)) as {
    format_options?: readonly DeclaredOption[];
  };
  const fits = ({ format_kind, params: own = {} }: DeclaredOption): boolean =>
    format_kind === kind &&
    ["width", "height"].every((side) => typeof own[side] !== "number" || own[side] === params[side]);
  if (options === undefined || options.some(fits)) return;
  throw new ToolError("UNSUPPORTED_FEATURE", `product ${product.product_id} takes no ${kind} of that description`, {
    field: `${field}.format_kind`,
  });
}

async function checkFormats(
  call: BehaviourCall,
  product: Product,
  wanted: WantedPackage,
  field: string,
): Promise<void> {
  const { product_id, formats } = product;
  const declared = (product.more?.format_options ?? []) as readonly DeclaredOption[];
  // Formats of other agents may be named in full, by the product or by its options.
  const taken = [
    ...(await formatsNamed(call, formats)).map((one) => formatId(call, one)),
    ...((product.more?.format_ids ?? []) as readonly FormatId[]),
    ...declared.flatMap(({ v1_format_ref: refs = [] }) => refs),
  ];
  const isTaken = (one: FormatId): boolean => taken.some((other) => sameFormat(one, other));
  const refs = (wanted.format_option_refs ?? []).flatMap(
    ({ format_option_id: id }) => declared.find((one) => one.format_option_id === id)?.v1_format_ref ?? [],
  );
  // A format named twice has to be one.
  const other =
    refs.length === 0 ? undefined : wanted.format_ids?.find((one) => !refs.some((ref) => sameFormat(one, ref)));
  if (other !== undefined && call.shapes.knowsError("CONFLICTING_SELECTORS") && !isProjectable(other))
    throw new ToolError("UNSUPPORTED_FEATURE", `${other.id} stands for no canonical format`, {
      field: `${field}.format_ids`,
    });
  if (other !== undefined && call.shapes.knowsError("CONFLICTING_SELECTORS"))
    throw new ToolError(
      "CONFLICTING_SELECTORS",
      `${other.id} is not what the format options named beside it stand for`,
      {
        field: `${field}.format_ids`,
      },
    );
  checkRoutes(call, declared, wanted, field);
  await checkKind(call, product, wanted, field);
  const named = (wanted.format_ids ?? []).find((one) => !isTaken(one));
  const option = (wanted.format_option_refs ?? []).find(({ format_option_id: id = "" }) => !formats.includes(id));
  const unknown = declared.some(({ format_option_id }) => format_option_id === option?.format_option_id)
    ? undefined
    : option?.format_option_id;
  const foreign = named?.id ?? unknown;
  if (foreign === undefined) return;
  throw new ToolError("INVALID_REQUEST", `product ${product_id} does not take format ${foreign}`, {
    field: `${field}.${named === undefined ? "format_option_refs" : "format_ids"}`,
  });
}
