/** Plans that govern other plans: what they share, and the most that they may come to together. */
import type { BehaviourCall } from "../frame/call.js";
import { summed } from "../frame/currency.js";
import { sameCurrency } from "./judge.js";
import { entriesOf } from "./ledger.js";
import type { SpendingPlan } from "./plan.js";
import { findPlan, type KeptPlan, ownersPlans } from "./plans.js";
import { moneyBound, spendingUnder } from "./spending.js";

/** What is left of what plans may come to together; nothing of it can be told of a plan in another currency. */
export interface SharedCap {
  readonly plan_id: string;
  readonly currency: string;
  readonly left: number;
}

/** The portfolios that a plan is in, of the same owner's. */
export const portfoliosOver = async (call: BehaviourCall, { plan, owner }: KeptPlan): Promise<KeptPlan[]> =>
  (await ownersPlans(call, owner)).filter(({ plan: { portfolio } }) =>
    portfolio?.member_plan_ids.includes(plan.plan_id),
  );

/** A plan with the policies that its portfolios lay on it. */
export const withShared = (plan: SpendingPlan, portfolios: readonly KeptPlan[]): SpendingPlan => ({
  ...plan,
  policy_ids: [
    ...(plan.policy_ids ?? []),
    ...portfolios.flatMap(({ plan: { portfolio } }) => portfolio?.shared_policy_ids ?? []),
  ],
  custom_policies: [
    ...(plan.custom_policies ?? []),
    ...portfolios.flatMap(({ plan: { portfolio } }) => portfolio?.shared_exclusions ?? []),
  ],
});

/** What is bound under the portfolio and all that are in it. */
async function boundTogether(call: BehaviourCall, kept: KeptPlan): Promise<number> {
  const ids = kept.plan.portfolio?.member_plan_ids ?? [];
  const bound: number[] = [];
  for (const id of new Set([kept.plan.plan_id, ...ids])) {
    const member = await findPlan(call, kept.owner, id);
    if (member === undefined || !sameCurrency(member.plan, kept.plan.portfolio?.total_budget_cap?.currency)) continue;
    const entries = await entriesOf(call, member);
    bound.push(...Object.values(moneyBound(await spendingUnder(call, member, entries), entries)));
  }
  return summed(bound);
}

export async function sharedCaps(call: BehaviourCall, portfolios: readonly KeptPlan[]): Promise<SharedCap[]> {
  const caps: SharedCap[] = [];
  for (const one of portfolios) {
    const cap = one.plan.portfolio?.total_budget_cap;
    if (cap === undefined) continue;
    const left = summed([cap.amount, -(await boundTogether(call, one))]);
    caps.push({ plan_id: one.plan.plan_id, currency: cap.currency, left });
  }
  return caps;
}
