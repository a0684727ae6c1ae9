import type { JsonObject } from "../../contract/index.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { PricingOption, Product } from "../ports/catalogue.js";
import { statedBudget } from "../products/brief.js";
import { keepConfigured } from "../products/configured.js";
import { draftOf } from "../products/draft.js";
import { relevantTo } from "../products/find.js";
import { shownProduct } from "../products/products.js";
import { targeted } from "../products/targeted.js";
import { type Opportunity, saveNegotiated, shownNegotiated } from "../products/terms.js";
import { type Criteria, offered, refuseResults } from "./list-products.js";

interface Wanted {
  readonly brief: string;
  readonly brand?: JsonObject;
  readonly account?: { readonly brand?: JsonObject };
  readonly criteria?: Criteria;
  readonly opportunity?: Opportunity;
}

/** Products of one plan, at most. */
const PLAN_PRODUCTS = 3;
/** Money per product, where the brief names none. */
const USUAL_BUDGET = 1_000;

/** `request_proposals`: a plan over what answers the brief best, to be revised, finalized, or declined. */
export const requestProposals: ToolBehaviour = async (request: Wanted, call) => {
  const budget = statedBudget(request.brief);
  const { criteria = {} } = request;
  refuseResults(criteria, "criteria");
  const { products: all, configured } = targeted(call, await offered(call, criteria), criteria);
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
  const { opportunity_id } = request.opportunity ?? {};
  keepConfigured(
    call,
    configured,
    chosen.map(({ product }) => product.product_id),
  );
  const drafted = draftOf(call, {
    lines: chosen.map((one) => {
      const own = configured.get(one.product.product_id);
      return { ...one, share: 1, overlay: own?.overlay ?? criteria.targeting_overlay };
    }),
    total: budget ?? { amount: leastOf(chosen), currency },
    brief: request.brief,
    brand: request.brand ?? request.account?.brand,
    frequencyCap: criteria.media_buy_frequency_cap,
  });
  const draft = { ...drafted, ...(opportunity_id !== undefined && { opportunity_id }) };
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
