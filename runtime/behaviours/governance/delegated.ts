/** What a plan lets other agents than its owner do. */
import { outsideOf } from "./markets.js";
import type { SpendingPlan } from "./plan.js";
import type { ProposedAction } from "./proposal.js";

/** An action by whoever wants to take it. */
interface Taken {
  /** As an agent URL. */
  readonly caller: string;
  /** What it comes to, with all that the caller has bound before. */
  readonly amount: number;
  readonly proposal: Pick<ProposedAction, "areas">;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Why none of the plan's delegations covers an action; undefined where one does, or where the plan has none. */
export function undelegated(
  { delegations = [], budget }: SpendingPlan,
  { caller, amount, proposal, now }: Taken,
): string | undefined {
  if (delegations.length === 0) return undefined;
  const own = delegations.filter(({ agent_url }) => agent_url === caller);
  const live = own.filter(({ expires_at }) => expires_at === undefined || Date.parse(expires_at) > now);
  if (live.length === 0) return `The plan delegates nothing to ${caller}${own.length > 0 ? " any more" : ""}.`;
  const buying = live.filter(({ authority }) => authority !== "propose_only");
  if (buying.length === 0) return `${caller} may propose under this plan, not buy.`;
  const there = buying.filter(({ markets }) => outsideOf(markets, proposal.areas).length === 0);
  if (there.length === 0)
    return `The plan delegates to ${caller} for other markets than ${outsideOf([], proposal.areas).join(", ")}.`;
  const enough = there.some(
    ({ budget_limit: limit }) =>
      // Rates are nobody's to guess: a limit in another currency lets through what costs nothing.
      limit === undefined || amount <= (limit.currency === budget.currency ? limit.amount : 0),
  );
  return enough ? undefined : `${amount} in all is above what the plan delegates to ${caller}.`;
}
