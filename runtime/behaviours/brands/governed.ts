/** Money of a governed account is spent on its governance agent's word alone. */
import type { BehaviourCall, BehaviourToolCall } from "../frame/call.js";
import { bindMoney, denialOf } from "../governance/authority.js";
import { bindAtOnce } from "../governance/spending.js";
import { requireUngoverned } from "../governance/word.js";
import type { Account } from "../ports/accounts.js";
import type { Obstacle } from "./offerings.js";

interface Licensing {
  readonly tool: string;
  /** What is paid for, by its id. */
  readonly what: string;
  /** As received: it carries the agent's word. */
  readonly request: object & { readonly governance_context?: string };
  /** Undefined where nobody can tell beforehand. */
  readonly amount: number | undefined;
  readonly currency: string;
}

/**
 * A licence that no account pays: where requests can name one, that it is left out does not mean that nobody governs it.
 * @throws ToolError ACCOUNT_REQUIRED, or ACCOUNT_AMBIGUOUS in older releases, where one of the caller's accounts is governed
 */
export async function nobodysMoney(call: BehaviourToolCall): Promise<void> {
  if (call.shapes.request(call.tool).has("account")) await requireUngoverned(call);
}

/** What keeps a commitment from being made; undefined where the account asks nobody, or its agent's word is there. */
export async function ungoverned(
  call: BehaviourCall,
  account: Account | undefined,
  wanted: Licensing,
): Promise<Obstacle | undefined> {
  const agents = account?.governance_agents ?? [];
  if (account === undefined || agents.length === 0) return undefined;
  const { request } = wanted;
  // A plan that is kept here has the say, whatever is sent.
  const denial = await denialOf(call, account, { ...wanted, request: { ...request } });
  if (denial !== undefined) return { reason: denial.message };
  if ((request.governance_context ?? "") !== "") return undefined;
  return {
    reason: `A governance agent is registered for this account (${agents.map(({ url }) => url).join(", ")}), and it has not approved this.`,
    suggestions: ["Ask it by check_governance, and send the governance_context of its approval."],
  };
}

/**
 * A licence is given: what it costs is bound under the plan of the account, before anybody makes keys for it.
 * @param given what makes it
 */
export async function underPlan<T>(
  call: BehaviourCall,
  { account, ...wanted }: Licensing & { readonly account: Account | undefined },
  given: () => Promise<T>,
): Promise<T> {
  if (account !== undefined) await bindMoney(call, account, { ...wanted, request: { ...wanted.request } });
  const giveBack = await bindAtOnce(call);
  try {
    return await given();
  } catch (error) {
    await giveBack();
    throw error;
  }
}
