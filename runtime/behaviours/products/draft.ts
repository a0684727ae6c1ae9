/** Plans as commercial terms: what is bought with which share of the money, when, and at which price. */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { coinsIn, summed } from "../frame/currency.js";
import type { PricingOption, Product, Proposal } from "../ports/catalogue.js";
import { statedBudget, statedFlight } from "./brief.js";
import { productsOf } from "./products.js";
import { type CommercialTerms, type Money, type Negotiated, savePlanned, termsDigest } from "./terms.js";

/** How long a draft is looked after, in milliseconds. */
export const DRAFT_MS = 14 * 86_400_000;
const DAY_MS = 86_400_000;
/** A flight where the brief names none. */
const FLIGHT_DAYS = { until: 7, long: 30 };
/** Money of a plan where neither its catalogue nor the brief names a sum. */
const USUAL_BUDGET = 10_000;

export interface PlanLine {
  readonly product: Product;
  readonly option: PricingOption;
  /** Of the money; those of a plan need not add up to anything. */
  readonly share: number;
  /** Whom it is for, where that was asked for. */
  readonly overlay?: JsonObject | undefined;
}

/** Of a coin: what products of binary fractions leave below it. */
const DUST = 1e-6;

/**
 * The money by share, to the coin of its currency; what is left over by rounding goes to the first that has a share. Where none has one
 * they are even: a share of nothing is no number, and passes for any sum.
 */
export function divided(
  { amount: total, currency }: Pick<Money, "amount"> & Partial<Money>,
  given: readonly number[],
): number[] {
  const shares = given.some((one) => one > 0) ? given : given.map(() => 1);
  const sum = shares.reduce((all, one) => all + one, 0);
  const coins = coinsIn(currency);
  // Half of 8.20 is 4.10, though the quotient is a breath less.
  const parts = shares.map((one) => Math.floor((total * one * coins) / sum + DUST) / coins);
  const rest = summed([total, ...parts.map((one) => -one)]);
  const first = shares.findIndex((one) => one > 0);
  return parts.map((one, index) => (index === first ? summed([one, rest]) : one));
}

export interface PlanWanted {
  readonly lines: readonly PlanLine[];
  readonly total: Money;
  readonly brief: string;
  readonly brand?: JsonObject | undefined;
  readonly name?: string;
  readonly id?: string;
  /** Of all of it together. */
  readonly frequencyCap?: JsonObject | undefined;
}

export function draftOf(call: BehaviourCall, wanted: PlanWanted): Negotiated {
  const { lines, total, brief, brand, name, id, frequencyCap } = wanted;
  const from = new Date(call.now.getTime() + FLIGHT_DAYS.until * DAY_MS);
  const flight = statedFlight(brief) ?? {
    start_time: from.toISOString(),
    end_time: new Date(from.getTime() + FLIGHT_DAYS.long * DAY_MS).toISOString(),
  };
  const budgets = divided(
    total,
    lines.map(({ share }) => share),
  );
  const purchases = lines.map(({ product, option, overlay }, index) => ({
    product_id: product.product_id,
    pricing_option_id: option.pricing_option_id,
    pricing: option,
    budget: budgets[index]!,
    ...flight,
    ...(overlay !== undefined && { targeting_overlay: { ...overlay } }),
  }));
  const terms: CommercialTerms = {
    ...(brand && { brand }),
    purchases,
    ...flight,
    total_budget: total,
    ...(frequencyCap !== undefined && { frequency_cap: frequencyCap }),
  };
  const names = lines.map(({ product }) => product.name).join(", ");
  return {
    proposal_id: id ?? call.id("prop"),
    name: (name ?? names).slice(0, 500),
    state: "draft",
    commercial_terms: terms,
    terms_digest: termsDigest(terms),
    expires_at: new Date(call.now.getTime() + DRAFT_MS).toISOString(),
  };
}

/** What plans of the catalogue come to under a brief, for who goes on to refine what he was shown. */
export async function keepPlans(
  call: BehaviourCall,
  plans: readonly Proposal[],
  { brief = "", brand }: { readonly brief?: string | undefined; readonly brand?: JsonObject | undefined },
): Promise<void> {
  if (!call.shapes.offers("refine_proposals") || brand === undefined) return;
  const known = new Map((await productsOf(call)).map((one) => [one.product_id, one]));
  const stated = statedBudget(brief);
  for (const { proposal_id: id, name, allocations, total_budget_guidance: guidance = {} } of plans) {
    const lines = allocations.flatMap(({ product_id, pricing_option_id: wanted, allocation_percentage: share }) => {
      const product = known.get(product_id);
      const options = product?.pricing_options ?? [];
      const option = options.find((one) => one.pricing_option_id === wanted) ?? options[0];
      return product === undefined || option === undefined ? [] : [{ product, option, share }];
    });
    const currency = lines[0]?.option.currency;
    if (currency === undefined || lines.some(({ option }) => option.currency !== currency)) continue;
    const usual = typeof guidance.recommended === "number" ? guidance.recommended : USUAL_BUDGET;
    const total = stated?.currency === currency ? stated : { amount: usual, currency };
    savePlanned(call, draftOf(call, { lines, total, brief, brand, name, id }));
  }
}
