/** What a seller asks before it takes a buyer's money: does the brand's plan, where there is one, allow it? */
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call } from "../../handler.js";
import type { Account } from "../accounts/accounts.js";
import { judgeAction } from "./judge.js";
import { committed, entriesOf } from "./ledger.js";
import { newestPlan } from "./plans.js";
import { readProposal } from "./proposal.js";

export interface Action {
  readonly tool: string;
  /** The request, as received: it may carry the token of an approval. */
  readonly request: object;
  /** What it costs, in the plan's currency; undefined where nobody can tell beforehand. */
  readonly amount: number | undefined;
}

const tokenOf = (request: object): string | undefined => {
  const token = (request as JsonObject).governance_context;
  return typeof token === "string" ? token : undefined;
};

function denied(message: string, details: JsonObject): never {
  throw new ToolError("GOVERNANCE_DENIED", message, { details });
}

/**
 * Lets an action go ahead, or does not. With a plan of the brand at hand, the plan decides; an action whose cost nobody
 * knows needs an approval in hand. Without a plan, an account that names governance agents needs their approval.
 * Conditions of an approval are between the buyer and its governance agent.
 * @param account whose money it is; where the action names none, the caller's own plans govern it
 * @throws ToolError GOVERNANCE_DENIED
 */
export function requireApproval(call: Call, account: Account | undefined, action: Action): void {
  const approved = tokenOf(action.request) !== undefined;
  const plan = newestPlan(call, account?.brand.domain);
  if (plan === undefined) {
    if ((account?.governance_agents ?? []).length === 0 || approved) return;
    denied("The account's governance agent has not approved this: send the governance_context of its check.", {
      governance_agents: account?.governance_agents?.map(({ url }) => url),
    });
  }
  if (action.amount === undefined) {
    if (approved) return;
    denied(
      `Plan ${plan.plan_id} governs this account, and the cost is not known yet: send an approval's governance_context.`,
      {
        plan_id: plan.plan_id,
      },
    );
  }
  const proposal = readProposal({ tool: action.tool, payload: action.request as JsonObject });
  const judgement = judgeAction(
    plan,
    { ...proposal, amount: action.amount },
    {
      phase: "purchase",
      caller: call.agentUrl,
      execution: true,
      committed: committed(entriesOf(call, plan.plan_id)),
      before: 0,
      approvedByHuman: approved,
      now: call.now.getTime(),
    },
  );
  if (judgement.decision !== "denied") return;
  const reasons = judgement.findings.filter(({ severity }) => severity === "critical");
  denied(reasons.map(({ explanation }) => explanation).join(" "), { plan_id: plan.plan_id, findings: reasons });
}
