/** What `filters` of `get_products` leave: products, and of each the prices that were asked for. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { itemsIn } from "../frame/items-in.js";
import type { PricingOption, Product } from "../ports/catalogue.js";
import { checkFlight, isAvailable } from "./availability.js";
import { type CoverageFilters, isWhereWanted } from "./coverage.js";
import { type ExecutionFilters, isExecutable } from "./executable.js";
import { type FormatFilters, formatFilter } from "./format-filter.js";
import { expiredAt, isAuction, usualMetrics } from "./products.js";
import { hasSignals, type WantedSignal } from "./selectable-signals.js";

/** What a product declares under the same name: one of those asked for has to be among it. */
const declared = [
  "video_placement_types",
  "audio_distribution_types",
  "sponsored_placement_types",
  "social_placement_surfaces",
] as const;

export interface ProductFilters
  extends Partial<Readonly<Record<(typeof declared)[number], readonly string[]>>>,
    CoverageFilters,
    ExecutionFilters,
    FormatFilters {
  readonly delivery_type?: string;
  readonly exclusivity?: string;
  readonly is_fixed_price?: boolean;
  readonly pricing_structures?: readonly string[];
  readonly pricing_currencies?: readonly string[];
  readonly channels?: readonly string[];
  readonly budget_range?: { readonly min?: number; readonly max?: number; readonly currency?: string };
  /** `YYYY-MM-DD`; the last day is part of the flight. */
  readonly start_date?: string;
  readonly end_date?: string;
  readonly min_exposures?: number;
  readonly signal_targeting?: readonly WantedSignal[];
  readonly required_metrics?: readonly string[];
  readonly required_vendor_metrics?: readonly VendorMetric[];
  readonly required_performance_standards?: readonly PerformanceStandard[];
  readonly trusted_match?: TrustedMatch;
  readonly audience_evidence_requirements?: {
    readonly requirement_mode?: string;
    readonly evidence_presence?: string;
  };
}

/** A metric of somebody else's: its vendor, and what he calls it. */
interface VendorMetric {
  readonly vendor?: { readonly domain?: string };
  readonly metric_id?: string;
}

/** A rate that is kept to, as its vendor measures it. */
interface PerformanceStandard {
  readonly metric: string;
  readonly threshold: number;
  readonly standard?: string;
  readonly vendor?: { readonly domain?: string };
}

interface TrustedMatch {
  readonly providers?: readonly TrustedProvider[];
  readonly response_types?: readonly string[];
}

interface TrustedProvider {
  readonly agent_url: string;
  readonly context_match?: boolean;
  readonly identity_match?: boolean;
}

/** How what is paid is determined: an outcome that is measured afterwards is neither a price nor a bid. */
const structureOf = (option: PricingOption): string =>
  option.pricing_model === "revenue_share" ? "contingent" : isAuction(option) ? "auction" : "fixed";

/** Whether a price is one that was asked for. */
function isWantedPrice(option: PricingOption, filters: ProductFilters): boolean {
  const { pricing_currencies: currencies, is_fixed_price: fixed, pricing_structures: structures } = filters;
  const structure = structureOf(option);
  return (
    (currencies === undefined || currencies.includes(option.currency)) &&
    (fixed === undefined || structure === (fixed ? "fixed" : "auction")) &&
    (structures === undefined || structures.includes(structure))
  );
}

/** Of a product, only the prices that were asked for. */
export const inWantedPrices = (one: Product, filters: ProductFilters = {}): Product => ({
  ...one,
  pricing_options: one.pricing_options.filter((option) => isWantedPrice(option, filters)),
});

/** Signals that come with a product whether the buyer wants them or not, and what they cost. */
interface SignalTerms {
  readonly signal_targeting_rules?: { readonly selection_mode?: string };
  readonly signal_targeting_options?: readonly {
    readonly default_selected?: boolean;
    readonly pricing_options?: readonly { readonly currency?: string }[];
  }[];
}

/** Can all that must be paid beside the product's price be paid in one of the currencies? */
function chargesPayable({ more = {} }: Product, wanted: readonly string[] | undefined): boolean {
  if (wanted === undefined) return true;
  const { signal_targeting_rules: rules, signal_targeting_options: options = [] } = more as SignalTerms;
  const imposed = options.filter((one) => rules?.selection_mode === "fixed" || one.default_selected === true);
  return imposed.every(
    ({ pricing_options: prices = [] }) =>
      prices.length === 0 || prices.some(({ currency }) => currency !== undefined && wanted.includes(currency)),
  );
}

/** A minimum in another currency than the budget's says nothing of it. */
const isAffordable = (
  { min_spend_per_package: least = 0, currency }: PricingOption,
  filters: ProductFilters,
): boolean => {
  const { max, currency: own = currency } = filters.budget_range ?? {};
  return max === undefined || own !== currency || least <= max;
};

const isMetric = (has: VendorMetric, wanted: VendorMetric): boolean =>
  (wanted.vendor?.domain === undefined || wanted.vendor.domain === has.vendor?.domain) &&
  (wanted.metric_id === undefined || wanted.metric_id === has.metric_id);

/** Of invalid traffic the least is best, of all else the most. */
const isKept = (has: PerformanceStandard, wanted: PerformanceStandard): boolean =>
  has.metric === wanted.metric &&
  (wanted.metric === "ivt" ? has.threshold <= wanted.threshold : has.threshold >= wanted.threshold) &&
  (wanted.standard === undefined || has.standard === wanted.standard) &&
  (wanted.vendor?.domain === undefined || has.vendor?.domain === wanted.vendor.domain);

const intersects = (has: unknown, wanted: readonly string[] | undefined): boolean =>
  wanted === undefined || wanted.some((one) => itemsIn(has).includes(one));

function isTrusted(said: unknown, wanted: TrustedMatch | undefined): boolean {
  if (wanted === undefined) return true;
  if (!isJsonObject(said)) return false;
  const has = itemsIn<TrustedProvider>(said.providers);
  const asked = (one: TrustedProvider): boolean =>
    has.some(
      ({ agent_url, context_match, identity_match }) =>
        agent_url === one.agent_url &&
        (one.context_match !== true || context_match === true) &&
        (one.identity_match !== true || identity_match === true),
    );
  return (
    (wanted.providers === undefined || wanted.providers.some(asked)) &&
    intersects(said.response_types ?? ["activation"], wanted.response_types)
  );
}

/**
 * Evidence is not weighed here: where it decides who is left, what has some cannot be judged.
 * @throws ToolError UNSUPPORTED_FEATURE
 */
function isEvident({ audience_evidence: evidence }: JsonObject, wanted: ProductFilters): boolean {
  const { requirement_mode: mode, evidence_presence: presence } = wanted.audience_evidence_requirements ?? {};
  if (mode !== "required") return true;
  if (itemsIn(evidence).length === 0) return presence !== "required";
  throw new ToolError("UNSUPPORTED_FEATURE", "evidence of audiences is not weighed: ask for it as preferred", {
    field: "filters.audience_evidence_requirements",
  });
}

/** A metric that holds others: who reports it reports each of them. */
const holders: Readonly<Record<string, readonly string[]>> = {
  viewability: ["viewable_rate", "viewable_impressions", "measurable_impressions", "viewed_seconds"],
  quartile_data: ["quartile_25", "quartile_50", "quartile_75", "quartile_100"],
};

const reports = (available: readonly string[], metric: string): boolean =>
  available.includes(metric) || available.some((one) => holders[one]?.includes(metric));

/** Whether reports and promised rates are those that are needed. */
function isMeasured({ reporting_capabilities: said, more = {} }: Product, filters: ProductFilters): boolean {
  const reported = said as
    | { available_metrics?: readonly string[]; vendor_metrics?: readonly VendorMetric[] }
    | undefined;
  const { required_metrics: metrics = [], required_vendor_metrics: vendors = [] } = filters;
  const promised = itemsIn<PerformanceStandard>(more.performance_standards);
  return (
    metrics.every((metric) => reports(reported?.available_metrics ?? usualMetrics, metric)) &&
    vendors.every((wanted) => reported?.vendor_metrics?.some((has) => isMetric(has, wanted))) &&
    (filters.required_performance_standards ?? []).every((wanted) => promised.some((has) => isKept(has, wanted)))
  );
}

/** What a filter that needs no more than the product says of it. */
function passes(call: BehaviourCall, one: Product, filters: ProductFilters): boolean {
  const { delivery_type, exclusivity, channels, signal_targeting: signals } = filters;
  const { more = {} } = one;
  return (
    one.pricing_options.some((option) => isWantedPrice(option, filters) && isAffordable(option, filters)) &&
    chargesPayable(one, filters.pricing_currencies) &&
    (delivery_type === undefined || delivery_type === one.delivery_type) &&
    (exclusivity === undefined || exclusivity === (more.exclusivity ?? "none")) &&
    (channels === undefined || channels.some((channel) => one.channels.includes(channel))) &&
    declared.every((name) => intersects(more[name], filters[name])) &&
    isWhereWanted(one.coverage, filters) &&
    isExecutable(call, one, filters) &&
    (signals === undefined || hasSignals(call, one, signals)) &&
    isMeasured(one, filters) &&
    isTrusted(more.trusted_match, filters.trusted_match) &&
    isEvident(more, filters)
  );
}

/**
 * Those of the products that are still on offer and meet the filters: each of them excludes what does not, in every mode.
 * @throws ToolError INVALID_REQUEST, UNSUPPORTED_FEATURE for filters that nothing could be judged by
 */
export async function filtered(
  call: BehaviourCall,
  filters: ProductFilters | undefined,
  all: readonly Product[],
): Promise<Product[]> {
  const current = all.filter((one) => expiredAt(call, one) === undefined);
  if (filters === undefined) return current;
  checkFlight(filters);
  const passing = current.filter((one) => passes(call, one, filters));
  const taken = await formatFilter(call, filters, passing);
  const kept: Product[] = [];
  for (const one of passing) if (taken(one) && (await isAvailable(call, one, filters))) kept.push(one);
  return kept;
}
