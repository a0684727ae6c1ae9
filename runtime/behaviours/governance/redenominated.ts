/** A plan whose money is bound in one currency is not made one in another: what is bound could not be counted any more. */
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import { summed } from "../frame/currency.js";
import { sameCurrency } from "./judge.js";
import { entriesOf } from "./ledger.js";
import type { SpendingPlan } from "./plan.js";
import { findPlan, syncPlans } from "./plans.js";
import { moneyBound, spendingUnder } from "./spending.js";

/** `sync_plans`. @throws ToolError INVALID_REQUEST for another currency than a plan's money is bound in, and as `syncPlans` */
export const syncCountedPlans: ToolBehaviour = async (request: { readonly plans: readonly SpendingPlan[] }, call) => {
  for (const [index, { plan_id, budget }] of request.plans.entries()) {
    const kept = await findPlan(call, call.principal, plan_id);
    if (kept === undefined || sameCurrency(kept.plan, budget.currency)) continue;
    const entries = await entriesOf(call, kept);
    const bound = summed(Object.values(moneyBound(await spendingUnder(call, kept, entries), entries)));
    if (bound <= 0) continue;
    const { currency } = kept.plan.budget;
    const message = `${bound} ${currency} are bound under this plan: register another one for ${budget.currency}`;
    throw new ToolError("INVALID_REQUEST", message, { field: `plans[${index}].budget.currency` });
  }
  return syncPlans(request, call);
};
