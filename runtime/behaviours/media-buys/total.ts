/** One sum for a whole buy: its packages keep their shares of it, to the coin. */
import { type BuyPackage, isLivePackage, type MediaBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { coinsIn, inCoins, summed } from "../frame/currency.js";
import { invalid } from "../frame/invalid.js";
import { toldAs } from "../frame/told-as.js";
import { productOf } from "../products/products.js";
import { checkPrice, givenBudget, pricingOption } from "./packages.js";

interface Total {
  readonly amount: number;
  readonly currency?: string;
}

const FIELD = "total_budget";
/** Of a coin. */
const DUST = 1e-6;

/** @throws ToolError VALIDATION_ERROR where a sum is in another currency than what is bought with it */
export function checkCurrency(call: BehaviourCall, currency: string, total: Total): void {
  if (total.currency !== undefined && total.currency !== currency)
    throw invalid(call, `the buy is in ${currency}`, `${FIELD}.currency`);
}

/**
 * The packages with the budgets that the sum makes; what rounding leaves goes to the last of them.
 * @throws ToolError VALIDATION_ERROR, BUDGET_TOO_LOW where a package's share is less than its product takes
 */
export const spread = (
  call: BehaviourCall,
  buy: MediaBuy,
  packages: readonly BuyPackage[],
  total: Total,
): Promise<BuyPackage[]> =>
  // Packages that share it say nothing of their own.
  toldAs(
    () => shared(call, buy, packages, total),
    (field) => (field === `${FIELD}.currency` ? field : `${FIELD}.amount`),
  );

async function shared(
  call: BehaviourCall,
  { currency }: MediaBuy,
  packages: readonly BuyPackage[],
  total: Total,
): Promise<BuyPackage[]> {
  checkCurrency(call, currency, total);
  const live = packages.filter(isLivePackage);
  const before = summed(live.map(({ budget }) => budget));
  // What it is already was taken before, by rules that may have been others.
  if (total.amount === before) return [...packages];
  const amount = givenBudget(total.amount, currency, FIELD);
  if (before <= 0) throw invalid(call, "no package has a budget that the sum could be shared by", FIELD);
  const coins = coinsIn(currency);
  // A share that is a coin but for the dust of its own quotient is that coin: a sum that is what it was moves no money.
  const shares = live.map(({ budget }) => Math.floor((budget / before) * amount * coins + DUST) / coins);
  const rest = summed([amount, ...shares.map((one) => -one)]);
  const spreadTo = new Map(
    live.map((one, index) => [one, summed([shares[index]!, index === live.length - 1 ? rest : 0])]),
  );
  for (const [one, budget] of spreadTo) {
    const option = pricingOption(call, await productOf(call, one.product_id, FIELD), one.pricing_option_id, FIELD);
    checkPrice(option, { budget }, FIELD);
  }
  return packages.map((one) => ({ ...one, budget: spreadTo.get(one) ?? one.budget }));
}

/** @throws ToolError VALIDATION_ERROR where the packages do not come to the sum that the request states, or not in its currency */
export function checkTotal(
  call: BehaviourCall,
  { currency, packages }: Pick<MediaBuy, "currency" | "packages">,
  total: Total,
): void {
  checkCurrency(call, currency, total);
  const sum = summed(packages.filter(isLivePackage).map(({ budget }) => budget));
  if (inCoins(sum, currency) !== inCoins(total.amount, currency))
    throw invalid(call, `the packages come to ${sum}, not to ${total.amount}`, FIELD);
}
