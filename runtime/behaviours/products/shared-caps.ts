/** One counter over all of a buy: which products take part in it, as the seller and they say. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Product } from "../ports/catalogue.js";
import { capFits } from "./dimension-support.js";

/** What the seller says of counters over a whole buy; undefined where it keeps none. */
export function sharedCounters({ declared: { media_buy: block } }: Pick<BehaviourCall, "declared">) {
  const counters = isJsonObject(block) ? block.aggregate_frequency_capping : undefined;
  return isJsonObject(counters) ? counters : undefined;
}

/** Does a product take part in the counter of such a cap, by its own word? The seller's is another matter. */
export function takesPart(product: Product | undefined, cap: unknown): boolean {
  const support = (product?.more?.media_buy_support ?? {}) as JsonObject;
  return support.frequency_cap === true && capFits((support.frequency_cap_constraints ?? {}) as JsonObject, cap);
}

/** Can the cap be kept over these products together? */
export function sharesCap(
  call: Pick<BehaviourCall, "declared">,
  products: readonly (Product | undefined)[],
  cap: unknown,
) {
  const declared = sharedCounters(call);
  return declared !== undefined && capFits(declared, cap) && products.every((one) => takesPart(one, cap));
}
