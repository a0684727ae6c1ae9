/** How bids are placed: by one representation of it in a package, and not by two that say different things. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type BuyPackage, isLivePackage } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";

/** Targets of goals that are bids themselves. */
const monetary: readonly unknown[] = ["cost_per", "per_ad_spend"];

interface PricedGoal {
  readonly target?: { readonly kind?: string };
}

const isOlder = ({ bid_price, terms }: BuyPackage): boolean =>
  bid_price !== undefined ||
  ((terms.optimization_goals ?? []) as readonly PricedGoal[]).some(({ target }) => monetary.includes(target?.kind));

/**
 * Looks through what a buy would be after a request; its own policy counts for packages that have none.
 * @throws ToolError AMBIGUOUS_BIDDING_POLICY in releases that have one way of bidding beside the older ones
 */
export function checkBidding(
  { shapes }: BehaviourCall,
  { packages, terms }: { readonly packages: readonly BuyPackage[]; readonly terms: JsonObject },
): void {
  if (!shapes.knowsError("AMBIGUOUS_BIDDING_POLICY")) return;
  for (const one of packages.filter(isLivePackage)) {
    if ((one.terms.bidding ?? terms.bidding) == null || !isOlder(one)) continue;
    const message = `product ${one.product_id} would be bid for in two ways: by bidding, and by a bid price or a goal's target`;
    throw new ToolError("AMBIGUOUS_BIDDING_POLICY", message, { field: "bidding" });
  }
}
