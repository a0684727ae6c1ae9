/** Money of a governed account is spent on its governance agent's word alone. */
import type { Account } from "../ports/accounts.js";
import type { Obstacle } from "./offerings.js";

/** What keeps a commitment from being made; undefined where the account asks nobody, or the word is there. */
export function ungoverned(account: Account | undefined, word: string | undefined): Obstacle | undefined {
  const agents = account?.governance_agents ?? [];
  if (agents.length === 0 || (word !== undefined && word !== "")) return undefined;
  return {
    reason: `A governance agent is registered for this account (${agents.map(({ url }) => url).join(", ")}), and it has not approved this.`,
    suggestions: ["Ask it by check_governance, and send the governance_context of its approval."],
  };
}
