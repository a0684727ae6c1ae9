/** One package, changed. */
import { ToolError } from "../../seller/tool-error.js";
import { type BuyPackage, isLivePackage, type MediaBuy } from "../buys/buys.js";
import { storeCreatives } from "../creatives/sync.js";
import type { BehaviourCall } from "../frame/call.js";
import { findConfigured } from "../products/configured.js";
import type { Overlay } from "../products/overlay.js";
import { isAuction, productOf } from "../products/products.js";
import { assignments, checkAssigned, checkSuitable } from "./assigned.js";
import { checkBound } from "./bound.js";
import { checkDates } from "./dates.js";
import { committedMetrics } from "./metrics.js";
import { checkPrice, givenBudget, keptTerms, pricingOption, type WantedPackage } from "./packages.js";
import { overlayAfter, targetingTerms, type WantedTargeting } from "./targeting.js";
import { checkTerms } from "./terms.js";
import { changedTerms } from "./whole.js";

/** What a change says of one package. */
export interface PackageUpdate extends Partial<Omit<WantedPackage, "product_id">>, WantedTargeting {
  readonly package_id: string;
  readonly canceled?: boolean;
  readonly cancellation_reason?: string;
}

export const cancellationOf = (call: BehaviourCall, reason: string | undefined) => ({
  canceled_at: call.time,
  canceled_by: "buyer" as const,
  ...(reason !== undefined && { reason }),
});

/** When a package runs is no matter of its product, which may be sold no more: whoever bought it may always stop it. */
const ofFlight: ReadonlySet<string> = new Set(["package_id", "paused", "start_time", "end_time"]);

const flown = (
  one: BuyPackage,
  { paused, start_time, end_time }: Pick<PackageUpdate, "paused" | "start_time" | "end_time">,
): BuyPackage => ({
  ...one,
  ...(paused !== undefined && { paused }),
  ...(start_time !== undefined && { start_time }),
  ...(end_time !== undefined && { end_time }),
});

/** What a change assigns to a package; undefined where it leaves that alone. */
const assignedBy = ({ creative_assignments: named, creatives }: PackageUpdate) =>
  named === undefined && creatives === undefined ? undefined : assignments(named, creatives);

/** Packages as far as creatives are compared with them, after a change: what one gives up, another may have as something else. */
export const assignedAfter = (
  packages: readonly BuyPackage[],
  changeOf: (one: BuyPackage) => PackageUpdate | undefined,
): BuyPackage[] =>
  packages.filter(isLivePackage).flatMap((one) => {
    const wanted = changeOf(one);
    if (wanted === undefined) return [one];
    if (wanted.canceled === true) return [];
    const terms = { ...one.terms, ...keptTerms(wanted) };
    return [{ ...one, terms, creative_assignments: assignedBy(wanted) ?? one.creative_assignments }];
  });

/** A change of one package, where it stands in the request, and what the whole of it leaves. */
export interface PackageChange {
  readonly wanted: PackageUpdate;
  readonly field: string;
  /** Every package of the buy, as `assignedAfter`. */
  readonly after: readonly BuyPackage[];
}

/**
 * A package as a change of its buy leaves it.
 * @throws ToolError INVALID_STATE, NOT_CANCELLABLE for one that is canceled, and as `newPackage` does
 */
export async function updatedPackage(
  call: BehaviourCall,
  buy: MediaBuy,
  one: BuyPackage,
  { wanted, field, after }: PackageChange,
): Promise<BuyPackage> {
  if (one.canceled === true)
    throw wanted.canceled === true
      ? new ToolError("NOT_CANCELLABLE", `package ${one.package_id} is canceled`, { field })
      : new ToolError("INVALID_STATE", `package ${one.package_id} is canceled`, { field });
  if (wanted.canceled === true) {
    const cancellation = cancellationOf(call, wanted.cancellation_reason);
    return { ...one, canceled: true, cancellation, creative_assignments: [] };
  }
  checkDates(wanted.start_time ?? one.start_time, wanted.end_time ?? one.end_time, field);
  if (Object.keys(wanted).every((name) => ofFlight.has(name))) return flown(one, wanted);
  const product = await productOf(call, one.product_id, field);
  const option = pricingOption(call, product, one.pricing_option_id, field);
  const before = one.terms.targeting_overlay as Overlay | undefined;
  const bound = (await findConfigured(call, one.product_id))?.overlay;
  const overlay = overlayAfter(call, before, wanted, { product, bound, field });
  checkTerms(call, wanted, product, field);
  // What stays as it is was taken before, by rules that may have been others.
  const budget = wanted.budget === one.budget ? undefined : wanted.budget;
  checkPrice(option, { ...wanted, budget: budget ?? null }, field);
  await checkBound(call, wanted, { accountId: buy.account_id, field });
  const { bid_price, creatives } = wanted;
  const assigns = assignedBy(wanted);
  const assigned = assigns ?? one.creative_assignments;
  // What was taken before was looked at before, unless its placements change.
  if (assigns !== undefined || overlay !== undefined)
    checkAssigned(call, assigned, overlay ?? before, `${field}.creative_assignments`);
  const formats = { ...one.terms, ...keptTerms(wanted) };
  const of = { accountId: buy.account_id, uploads: creatives, before: one.creative_assignments, formats, field };
  if (assigns !== undefined) await checkSuitable(call, product, assigned, of);
  const { account_id: accountId, media_buy_id: mediaBuyId } = buy;
  if (creatives !== undefined)
    await storeCreatives(call, accountId, { uploads: creatives, packages: after, mediaBuyId });
  const { bid_price: held, ...rest } = one;
  // A policy takes the place of a bid price that was given before it.
  const bid = bid_price !== undefined && isAuction(option) ? bid_price : wanted.bidding == null ? held : undefined;
  return {
    ...flown(rest, wanted),
    ...(budget !== undefined && { budget: givenBudget(budget, option.currency, field) }),
    ...(bid !== undefined && { bid_price: bid }),
    creative_assignments: assigned,
    terms: changedTerms(one.terms, {
      ...keptTerms(wanted),
      ...targetingTerms(product, overlay),
      ...committedMetrics(call, { product, field }, wanted.committed_metrics, one.terms.committed_metrics),
    }),
  };
}
