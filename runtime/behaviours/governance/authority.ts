/** What an agent asks before it takes a buyer's money, where the brand's plan is kept here: does the plan allow it? */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Account } from "../ports/accounts.js";
import { type GovernanceFinding, judgeAction } from "./judge.js";
import { approvedCheck, type Entry, entriesOf, total } from "./ledger.js";
import { callersPlans, type KeptPlan, readPolicies } from "./plans.js";
import { readProposal } from "./proposal.js";
import { moneyBound, recordSpending, type Spending, spendingUnder, spentOn, usedByOthers } from "./spending.js";
import { APPROVAL_MS } from "./token.js";

export interface GovernedAction {
  readonly tool: string;
  /** What is paid for, by its id. */
  readonly what: string;
  /** The request, as received: it may carry the token of an approval. */
  readonly request: JsonObject;
  /** What it costs in all, in the plan's currency; undefined where nobody can tell beforehand. */
  readonly amount: number | undefined;
  /** Nothing goes ahead on an account under governance without a token, wherever its plan is kept. */
  readonly tokenRequired?: boolean;
  /** What was approved before is asked again: the plan, and what is bound under it, may be another by now. */
  readonly afresh?: boolean;
}

export interface Denial {
  readonly message: string;
  readonly details: JsonObject;
}

/** The plan registered last for a brand. */
async function newestPlan(call: BehaviourCall, domain: string | undefined): Promise<KeptPlan | undefined> {
  const own = (await callersPlans(call)).filter(({ plan }) => plan.brand.domain === domain);
  return own.reduce<KeptPlan | undefined>(
    (newest, one) => (newest === undefined || one.syncedAt >= newest.syncedAt ? one : newest),
    undefined,
  );
}

/** What is known under a plan when an action is judged. */
interface Standing extends Pick<KeptPlan, "plan"> {
  readonly entries: readonly Entry[];
  readonly spending: readonly Spending[];
}

async function standingOf(call: BehaviourCall, kept: KeptPlan): Promise<Standing> {
  const entries = await entriesOf(call, kept);
  return { plan: kept.plan, entries, spending: await spendingUnder(call, kept, entries) };
}

const tokenOf = ({ request: { governance_context: token } }: GovernedAction): string =>
  typeof token === "string" ? token : "";

/**
 * An approval that this agent has given itself stands for its judgement: of this plan, as long as it may be acted upon, and of as
 * much, once, while the plan has it. Denials have tokens too, and so have others' plans of the same name.
 */
function isApproved({ now }: BehaviourCall, { plan, entries, spending }: Standing, action: GovernedAction): boolean {
  const [token, { what, amount = 0 }] = [tokenOf(action), action];
  const given = token === "" ? undefined : approvedCheck(entries, token);
  if (given === undefined || Date.parse(given.timestamp) + APPROVAL_MS <= now.getTime()) return false;
  const bound = total(Object.values(moneyBound(spending, entries)));
  if (bound + amount - spentOn(spending, what) > plan.budget.total) return false;
  return usedByOthers(spending, token, what) + amount <= given.amount;
}

/** A plan that is kept here and governs an account, if there is one. */
const planOver = async (call: BehaviourCall, account: Account): Promise<KeptPlan | undefined> =>
  (account.governance_agents ?? []).length === 0 ? undefined : newestPlan(call, account.brand?.domain);

const unasked = ({ governance_agents: agents = [] }: Account): Denial => ({
  message: "The account's governance agent has not approved this: send the governance_context of its check.",
  details: { governance_agents: agents.map(({ url }) => url) },
});

/**
 * Why the account's plan forbids an action; undefined where it does not, where the account is under nobody's governance, and
 * where its plan is kept elsewhere: then the buyer's governance agent has the say.
 */
export async function denialOf(
  call: BehaviourCall,
  account: Account,
  action: GovernedAction,
): Promise<Denial | undefined> {
  const { tool, request, amount, tokenRequired = false, afresh = false } = action;
  if ((account.governance_agents ?? []).length === 0) return undefined;
  const kept = await planOver(call, account);
  if (kept === undefined) return tokenRequired && tokenOf(action) === "" ? unasked(account) : undefined;
  const standing = await standingOf(call, kept);
  if (!afresh && isApproved(call, standing, action)) return undefined;
  const { plan } = kept;
  if (amount === undefined) return unasked(account);
  const { entries, spending } = standing;
  const { decision, findings } = judgeAction(
    plan,
    { ...readProposal({ tool, payload: request }), amount },
    {
      phase: "purchase",
      caller: call.agentUrl,
      execution: true,
      committed: moneyBound(spending, entries),
      before: spentOn(spending, action.what),
      // Of what a person has approved once, no other is asked.
      approvedByHuman: approvedCheck(entries, tokenOf(action))?.human === true,
      now: call.now.getTime(),
      policies: await readPolicies(call, plan, request),
    },
  );
  if (decision !== "denied") return undefined;
  const reasons = findings.filter(({ severity }: GovernanceFinding) => severity === "critical");
  return {
    message: reasons.map(({ explanation }) => explanation).join(" "),
    details: { plan_id: plan.plan_id, findings: reasons },
  };
}

/** An action goes ahead: its money is bound under the plan that governs the account, where that is kept here. */
export async function bindMoney(call: BehaviourCall, account: Account, action: GovernedAction): Promise<void> {
  const { what, amount = 0, tool, request } = action;
  const kept = await planOver(call, account);
  if (kept === undefined) return;
  const { entries, spending } = await standingOf(call, kept);
  const already = spentOn(spending, what);
  if (amount <= already) return;
  const added = {
    what,
    governance_context: tokenOf(action),
    purchase_type: readProposal({ tool, payload: request }).purchase,
    amount: amount - already,
    order: entries.length,
  };
  recordSpending(call, kept, added, already);
}
