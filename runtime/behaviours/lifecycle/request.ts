import type { JsonObject } from "../../contract/index.js";
import { cents } from "../delivery/simulated.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import type { PricingOption, Product } from "../ports/catalogue.js";
import { relevantTo } from "../products/find.js";
import { shownProduct } from "../products/products.js";
import {
  type CommercialTerms,
  type Money,
  type Negotiated,
  saveNegotiated,
  shownNegotiated,
  termsDigest,
} from "../products/terms.js";
import { statedBudget, statedFlight } from "./brief.js";
import { type Criteria, offered } from "./list-products.js";

interface Wanted {
  readonly brief: string;
  readonly brand?: JsonObject;
  readonly account?: { readonly brand?: JsonObject };
  readonly criteria?: Criteria;
}

/** How long a draft is looked after, in milliseconds. */
export const DRAFT_MS = 14 * 86_400_000;
const DAY_MS = 86_400_000;
/** A flight where the brief names none. */
const FLIGHT_DAYS = { until: 7, long: 30 };
/** Products of one plan, at most. */
const PLAN_PRODUCTS = 3;
/** Money per product, where the brief names none. */
const USUAL_BUDGET = 1_000;

/** `request_proposals`: a plan over what answers the brief best, to be revised, finalized, or declined. */
export const requestProposals: ToolBehaviour = async (request: Wanted, call) => {
  const budget = statedBudget(request.brief);
  const all = await offered(call, request.criteria);
  const priced = all.flatMap((product) => {
    const option = product.pricing_options.find((one) => budget === undefined || one.currency === budget.currency);
    return option === undefined ? [] : [{ product, option }];
  });
  const ranked = request.criteria?.product_ids === undefined ? relevantTo(request.brief, priced) : priced;
  const currency = ranked[0]?.option.currency;
  const chosen = ranked.filter(({ option }) => option.currency === currency).slice(0, PLAN_PRODUCTS);
  if (chosen.length === 0 || currency === undefined)
    return call.answer({
      outcome: "rejected",
      reason: "Nothing on offer here answers that brief.",
      suggestions: ["List the products to see what is on offer.", "Name another channel or currency."],
    });
  const draft = drafted(call, request, { chosen, total: budget ?? { amount: leastOf(chosen), currency } });
  saveNegotiated(call, draft);
  const products = await Promise.all(chosen.map(({ product }) => shownProduct(call, product)));
  return call.answer({ outcome: "proposed", proposals: [shownNegotiated(draft)], products });
};

interface Choice {
  readonly product: Product;
  readonly option: PricingOption;
}

const leastOf = (chosen: readonly Choice[]): number =>
  chosen.reduce((sum, { option }) => sum + Math.max(option.min_spend_per_package ?? 0, USUAL_BUDGET), 0);

function drafted(
  call: BehaviourCall,
  request: Wanted,
  { chosen, total }: { readonly chosen: readonly Choice[]; readonly total: Money },
): Negotiated {
  const from = new Date(call.now.getTime() + FLIGHT_DAYS.until * DAY_MS);
  const flight = statedFlight(request.brief) ?? {
    start_time: from.toISOString(),
    end_time: new Date(from.getTime() + FLIGHT_DAYS.long * DAY_MS).toISOString(),
  };
  const share = cents(Math.floor((total.amount / chosen.length) * 100) / 100);
  const purchases = chosen.map(({ product, option }, index) => ({
    product_id: product.product_id,
    pricing_option_id: option.pricing_option_id,
    pricing: option,
    budget: index === 0 ? cents(total.amount - share * (chosen.length - 1)) : share,
    ...flight,
  }));
  const brand = request.brand ?? request.account?.brand;
  const terms: CommercialTerms = { ...(brand && { brand }), purchases, ...flight, total_budget: total };
  return {
    proposal_id: call.id("prop"),
    name: chosen
      .map(({ product }) => product.name)
      .join(", ")
      .slice(0, 500),
    state: "draft",
    commercial_terms: terms,
    terms_digest: termsDigest(terms),
    expires_at: new Date(call.now.getTime() + DRAFT_MS).toISOString(),
  };
}
