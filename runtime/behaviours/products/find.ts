import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall, BehaviourReply, BehaviourToolCall } from "../frame/call.js";
import { forcedAnswer, forcedReply } from "../frame/forced.js";
import { listPage, type PageWanted } from "../frame/page.js";
import type { Product } from "../ports/catalogue.js";
import type { FormatId } from "../ports/creatives.js";
import { divergences } from "./divergence.js";
import { keepPlans } from "./draft.js";
import { priceForecast } from "./forecast.js";
import { isAuction, onOffer, productsOf, queryOf, shownProduct, usualMetrics } from "./products.js";
import { proposalsFor } from "./proposals.js";
import { applyRefinements, type Refinement } from "./refine.js";
import { briefWords, relevance } from "./relevance.js";
import { type TargetedRequest, targeted } from "./targeted.js";

export interface ProductFilters {
  readonly delivery_type?: string;
  readonly is_fixed_price?: boolean;
  readonly channels?: readonly string[];
  readonly format_ids?: readonly FormatId[];
  readonly budget_range?: { readonly max?: number };
  readonly pricing_currencies?: readonly string[];
  readonly required_metrics?: readonly string[];
  readonly required_vendor_metrics?: readonly VendorMetric[];
}

/** A metric of somebody else's: its vendor, and what he calls it. */
interface VendorMetric {
  readonly vendor?: { readonly domain?: string };
  readonly metric_id?: string;
}

interface Wanted extends TargetedRequest {
  readonly filters?: ProductFilters & TargetedRequest["filters"];
  readonly brand?: JsonObject;
  readonly account?: { readonly brand?: JsonObject };
  readonly fields?: readonly string[];
  readonly refine?: readonly Refinement[];
  readonly property_list?: unknown;
  readonly catalog?: unknown;
  readonly pagination?: PageWanted;
}

/** `get_products`: what answers a brief, the whole catalogue, or what became of an earlier answer. */
export async function findProducts(request: Wanted, call: BehaviourToolCall): Promise<BehaviourReply> {
  const forced = await forcedAnswer(call);
  if (forced !== undefined) return forcedReply(call, forced);
  if (request.buying_mode === "brief" && (request.brief ?? "").trim() === "")
    throw new ToolError("INVALID_REQUEST", "buying_mode brief needs a brief", { field: "brief" });
  const refined = request.buying_mode === "refine";
  const { products: found, resolution } = targeted(call, await ranked(call, request), request);
  const { kept, proposals, applied } = refined
    ? await applyRefinements(call, request.refine ?? [], {
        found,
        allowed: (one) => meetsFilters(one, request.filters),
      })
    : { kept: found, proposals: [], applied: undefined };
  const { items, pagination } = listPage(
    kept,
    refined ? undefined : request.pagination,
    ({ product_id }) => product_id,
  );
  const plans = request.buying_mode === "brief" ? await proposalsFor(call, items) : proposals;
  await keepPlans(call, plans, { brief: request.brief, brand: request.brand ?? request.account?.brand });
  const products = await Promise.all(
    items.map((one) => shown(call, inCurrencies(one, request.filters?.pricing_currencies), request)),
  );
  const errors = call.shapes.knowsError("FORMAT_DECLARATION_DIVERGENT") ? divergences(products) : [];
  return call.answer({
    products,
    ...(resolution !== undefined && { targeting_resolution: resolution }),
    ...(errors.length > 0 && { errors }),
    ...(plans.length > 0 && { proposals: plans }),
    ...(request.property_list !== undefined && { property_list_applied: false }),
    ...(request.catalog !== undefined && { catalog_applied: false }),
    ...(applied === undefined ? { pagination } : { refinement_applied: applied }),
    // What is shown depends on who asks, as far as the catalogue is told.
    cache_scope: call.ctx.account === undefined ? "public" : "account",
  });
}

/** What answers a brief, best first; all of it, in its own order, where nothing does. */
export function relevantTo<T extends { readonly product: Product }>(brief: string, all: readonly T[]): T[] {
  const words = briefWords(brief);
  const scored = all.map((one, index) => ({ one, index, score: answers(words, one.product) }));
  const matching = scored.filter(({ score }) => score > 0);
  return (matching.length > 0 ? matching : scored)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .map(({ one }) => one);
}

/** What a medium that is asked for is worth, in words. */
const MEDIUM = 2;

/** How well a product answers a brief: by its words, and by the medium above all. */
const answers = (words: ReadonlySet<string>, one: Product): number =>
  relevance(words, textOf(one)) + MEDIUM * relevance(words, one.channels.join(" "));

const textOf = (one: Product): string =>
  `${one.product_id} ${one.name} ${one.description} ${one.channels.join(" ")} ${one.delivery_type}`;

/** What meetsFilters the filters, what answers the brief best first; the catalogue's order where nothing does. */
async function ranked(
  call: BehaviourCall,
  request: Pick<Wanted, "buying_mode" | "brief" | "filters">,
): Promise<Product[]> {
  const all = request.buying_mode === "brief" ? await productsOf(call, request) : await onOffer(call, request);
  const fitting = all.filter((one) => meetsFilters(one, request.filters));
  const products = fitting.map((product) => ({ product }));
  return relevantTo(request.brief ?? "", products).map(({ product }) => product);
}

const isMetric = (has: VendorMetric, wanted: VendorMetric): boolean =>
  (wanted.vendor?.domain === undefined || wanted.vendor.domain === has.vendor?.domain) &&
  (wanted.metric_id === undefined || wanted.metric_id === has.metric_id);

/** Of a product, only the prices in a currency that was asked for. */
function inCurrencies(one: Product, wanted: readonly string[] | undefined): Product {
  if (wanted === undefined) return one;
  return { ...one, pricing_options: one.pricing_options.filter(({ currency }) => wanted.includes(currency)) };
}

/** Signals that come with a product whether the buyer wants them or not, and what they cost. */
interface SignalTerms {
  readonly signal_targeting_rules?: { readonly selection_mode?: string };
  readonly signal_targeting_options?: readonly {
    readonly default_selected?: boolean;
    readonly pricing_options?: readonly { readonly currency?: string }[];
  }[];
}

/** Can all that must be paid beside the product's price be paid in one of the currencies? */
function chargesPayable({ more = {} }: Product, wanted: readonly string[]): boolean {
  const { signal_targeting_rules: rules, signal_targeting_options: options = [] } = more as SignalTerms;
  const imposed = options.filter((one) => rules?.selection_mode === "fixed" || one.default_selected === true);
  return imposed.every(
    ({ pricing_options: prices = [] }) =>
      prices.length === 0 || prices.some(({ currency }) => currency !== undefined && wanted.includes(currency)),
  );
}

export function meetsFilters(one: Product, filters: ProductFilters | undefined): boolean {
  if (filters === undefined) return true;
  const { delivery_type, is_fixed_price, channels, format_ids, budget_range } = filters;
  const reported = one.reporting_capabilities as
    | { available_metrics?: readonly string[]; vendor_metrics?: readonly VendorMetric[] }
    | undefined;
  const { pricing_currencies, required_metrics = [], required_vendor_metrics = [] } = filters;
  return (
    (pricing_currencies === undefined ||
      (one.pricing_options.some(({ currency }) => pricing_currencies.includes(currency)) &&
        chargesPayable(one, pricing_currencies))) &&
    required_metrics.every((metric) => (reported?.available_metrics ?? usualMetrics).includes(metric)) &&
    required_vendor_metrics.every((wanted) => reported?.vendor_metrics?.some((has) => isMetric(has, wanted))) &&
    (delivery_type === undefined || delivery_type === one.delivery_type) &&
    (is_fixed_price === undefined || one.pricing_options.some((option) => isAuction(option) !== is_fixed_price)) &&
    (channels === undefined || channels.some((channel) => one.channels.includes(channel))) &&
    (format_ids === undefined || format_ids.some(({ id }) => one.formats.includes(id))) &&
    (budget_range?.max === undefined ||
      one.pricing_options.some(({ min_spend_per_package }) => (min_spend_per_package ?? 0) <= budget_range.max!))
  );
}

/** Only the fields asked for; what every product must have is always there. */
async function shown(
  call: BehaviourToolCall,
  one: Product,
  { buying_mode, brief, fields }: Wanted,
): Promise<JsonObject> {
  const query = { ...queryOf(call, { brief: brief ?? "" }), product: one };
  const custom = one.more?.is_custom === true ? priceForecast(call, one) : undefined;
  const forecast = (await call.ports.catalogue.forecast?.(query)) ?? custom;
  const all: JsonObject = {
    ...(await shownProduct(call, one)),
    ...(forecast !== undefined && { forecast }),
    ...(buying_mode === "brief" && { brief_relevance: `Answers "${brief?.slice(0, 100)}" with ${one.description}` }),
  };
  if (fields === undefined) return all;
  const wanted = (name: string): boolean => fields.includes(name) || call.shape.requires("products", "*", name);
  return Object.fromEntries(Object.entries(all).filter(([name]) => wanted(name)));
}
