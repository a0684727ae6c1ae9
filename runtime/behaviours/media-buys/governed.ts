/** What a buyer's plan says of an order: when it is placed, and once more when it is signed later than that. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { findAccount } from "../accounts/accounts.js";
import { checkCommitment } from "../accounts/commitment.js";
import { endOf, type MediaBuy, startOf, terminalStates } from "../buys/buys.js";
import { deliveredByPackage, deliveredOf } from "../delivery/delivered.js";
import type { BehaviourCall, BehaviourToolCall } from "../frame/call.js";
import { bindUnlessDenied, type GovernedAction, giveBack } from "../governance/authority.js";
import { commitmentOf } from "./orders.js";
import { countedSum } from "./packages.js";

/**
 * Binds the money of an order under the plan that governs its account, where that is kept here.
 * @throws ToolError GOVERNANCE_DENIED where the plan does not allow the order
 */
export async function checkPlan(
  call: BehaviourCall,
  buy: MediaBuy,
  wanted: Omit<GovernedAction, "what" | "currency">,
): Promise<void> {
  const account = await findAccount(call, buy.account_id);
  if (account === undefined) return;
  const action = { ...wanted, what: buy.media_buy_id, currency: buy.currency };
  const denial = await bindUnlessDenied(call, account, action);
  if (denial === undefined) return;
  throw new ToolError("GOVERNANCE_DENIED", denial.message, { details: denial.details });
}

/** The order as a plan reads it. */
const requestOf = (buy: MediaBuy): JsonObject => ({
  ...buy.terms,
  brand: buy.brand,
  start_time: startOf(buy),
  end_time: endOf(buy),
  packages: buy.packages.map(({ product_id, budget, terms }) => ({ ...terms, product_id, budget })),
});

/**
 * An order that grows is held to the plan as one of its new size.
 * @param total what it comes to, in its currency
 * @throws ToolError as `checkPlan`
 */
export const checkGrown = (call: BehaviourToolCall, buy: MediaBuy, total: number): Promise<void> =>
  checkPlan(call, buy, { tool: call.tool, request: requestOf(buy), amount: total });

/**
 * Money is committed with the signature: what was allowed when the order was placed need not be any more.
 * @param tool by which it was placed
 * @throws ToolError as the order would be refused with if it were placed now
 */
export async function checkSigned(call: BehaviourCall, tool: string, buy: MediaBuy): Promise<void> {
  const total = countedSum(
    buy.packages.map(({ budget }) => budget),
    "packages",
  );
  await checkPlan(call, buy, { tool, request: requestOf(buy), amount: total, afresh: true });
  await checkCommitment(call, commitmentOf(tool, buy, total));
}

const isGoverned = async (call: BehaviourCall, { account_id }: MediaBuy): Promise<boolean> =>
  ((await findAccount(call, account_id))?.governance_agents ?? []).length > 0;

/**
 * What a buy commits before and after a change: the budgets of its packages, and where a package has cost more than that, or is
 * canceled, what it has cost. Undefined where nobody governs its money.
 * @throws ToolError INVALID_REQUEST where a number does not hold it to the cent
 */
export async function committedTo(
  call: BehaviourCall,
  before: MediaBuy,
  after: MediaBuy,
): Promise<{ readonly before: number; readonly after: number } | undefined> {
  const live = after.packages.filter(({ canceled }) => canceled !== true);
  countedSum(
    live.map(({ budget }) => budget),
    "packages",
  );
  if (!(await isGoverned(call, before))) return undefined;
  const delivered = await deliveredByPackage(call, before);
  const sum = ({ packages }: MediaBuy): number =>
    countedSum(
      packages.map(({ package_id, canceled, budget }) =>
        Math.max(canceled === true ? 0 : budget, delivered.get(package_id)?.spend ?? 0),
      ),
      "packages",
    );
  return { before: sum(before), after: sum(after) };
}

/** The money of a buy that is over is bound no more under a plan that is kept here, but for what the buy has cost. */
export async function giveBackEnded(call: BehaviourCall, buy: MediaBuy): Promise<void> {
  if (buy.fixed === undefined || !terminalStates.has(buy.fixed) || !(await isGoverned(call, buy))) return;
  await giveBack(call, { what: buy.media_buy_id, cost: (await deliveredOf(call, buy)).spend });
}
