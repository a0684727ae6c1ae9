/** What a package has cost is owed, whatever its budget becomes. */
import { ToolError } from "../../seller/tool-error.js";
import { isLivePackage, type MediaBuy } from "../buys/buys.js";
import { deliveredByPackage } from "../delivery/delivered.js";
import type { BehaviourCall } from "../frame/call.js";
import { inCoins } from "../frame/currency.js";

/**
 * A budget below what its package has cost would promise a buyer that he owes less than he does.
 * @param fieldOf where the request says the budget of a package
 * @throws ToolError BUDGET_EXCEEDED
 */
export async function checkLowered(
  call: BehaviourCall,
  before: MediaBuy,
  after: MediaBuy,
  fieldOf: (packageId: string) => string,
): Promise<void> {
  const budgets = new Map(before.packages.map(({ package_id, budget }) => [package_id, budget]));
  const lowered = after.packages.filter(
    (one) => isLivePackage(one) && one.budget < (budgets.get(one.package_id) ?? one.budget),
  );
  if (lowered.length === 0) return;
  const delivered = await deliveredByPackage(call, before);
  for (const { package_id: id, budget, currency } of lowered) {
    const spend = inCoins(delivered.get(id)?.spend ?? 0, currency);
    if (spend > budget)
      throw new ToolError("BUDGET_EXCEEDED", `package ${id} has cost ${spend} ${currency}: pause or cancel it`, {
        field: fieldOf(id),
      });
  }
}
