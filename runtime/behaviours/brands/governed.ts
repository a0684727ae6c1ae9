/** Money of a governed account is spent on its governance agent's word alone. */
import type { BehaviourCall } from "../frame/call.js";
import { denialOf } from "../governance/authority.js";
import type { Account } from "../ports/accounts.js";
import type { Obstacle } from "./offerings.js";

interface Spending {
  readonly tool: string;
  /** As received: it carries the agent's word. */
  readonly request: object & { readonly governance_context?: string };
  /** Undefined where nobody can tell beforehand. */
  readonly amount: number | undefined;
}

/** What keeps a commitment from being made; undefined where the account asks nobody, or its agent's word is there. */
export async function ungoverned(
  call: BehaviourCall,
  account: Account | undefined,
  { tool, request, amount }: Spending,
): Promise<Obstacle | undefined> {
  const agents = account?.governance_agents ?? [];
  if (account === undefined || agents.length === 0) return undefined;
  // A plan that is kept here has the say, whatever is sent.
  const denial =
    amount === undefined ? undefined : await denialOf(call, account, { tool, request: { ...request }, amount });
  if (denial !== undefined) return { reason: denial.message };
  if ((request.governance_context ?? "") !== "") return undefined;
  return {
    reason: `A governance agent is registered for this account (${agents.map(({ url }) => url).join(", ")}), and it has not approved this.`,
    suggestions: ["Ask it by check_governance, and send the governance_context of its approval."],
  };
}
