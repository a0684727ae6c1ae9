/** What an agent asks before it takes a buyer's money, where the brand's plan is kept here: does the plan allow it? */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Account } from "../ports/accounts.js";
import { type GovernanceFinding, judgeAction } from "./judge.js";
import { approvedCheck, committed, type Entry, entriesOf } from "./ledger.js";
import { callersPlans, type KeptPlan, readPolicies } from "./plans.js";
import { readProposal } from "./proposal.js";
import { APPROVAL_MS } from "./token.js";

export interface GovernedAction {
  readonly tool: string;
  /** The request, as received: it may carry the token of an approval. */
  readonly request: JsonObject;
  /** What it costs, in the plan's currency; undefined where nobody can tell beforehand. */
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

/**
 * An approval that this agent has given itself stands for its judgement: of this plan, as long as it may be acted upon, and of as
 * much. Denials have tokens too, and so have others' plans of the same name.
 */
function isApproved({ now }: BehaviourCall, entries: readonly Entry[], { amount, request }: GovernedAction): boolean {
  const { governance_context: token } = request;
  const given = typeof token === "string" ? approvedCheck(entries, token) : undefined;
  if (given === undefined || Date.parse(given.timestamp) + APPROVAL_MS <= now.getTime()) return false;
  return amount === undefined || amount <= given.amount;
}

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
  { tool, request, amount, tokenRequired = false, afresh = false }: GovernedAction,
): Promise<Denial | undefined> {
  if ((account.governance_agents ?? []).length === 0) return undefined;
  const kept = await newestPlan(call, account.brand?.domain);
  if (kept === undefined)
    return tokenRequired && typeof request.governance_context !== "string" ? unasked(account) : undefined;
  const entries = await entriesOf(call, kept);
  if (!afresh && isApproved(call, entries, { tool, request, amount })) return undefined;
  const { plan } = kept;
  if (amount === undefined) return unasked(account);
  const { governance_context: token } = request;
  const { decision, findings } = judgeAction(
    plan,
    { ...readProposal({ tool, payload: request }), amount },
    {
      phase: "purchase",
      caller: call.agentUrl,
      execution: true,
      committed: committed(entries),
      before: 0,
      // Of what a person has approved once, no other is asked.
      approvedByHuman: typeof token === "string" && approvedCheck(entries, token)?.human === true,
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
