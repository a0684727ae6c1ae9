/** Money of a governed account is spent on its governance agent's word alone. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { callersAccounts } from "../accounts/accounts.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Account } from "../ports/accounts.js";
import { bindUnlessDenied } from "./authority.js";
import { bindAtOnce } from "./spending.js";

interface Wanted {
  readonly tool: string;
  /** What is paid for, by its id. */
  readonly what: string;
  /** As received: it carries the agent's word. */
  readonly request: object & { readonly governance_context?: string };
  /** What it costs; undefined where nobody can tell beforehand. */
  readonly amount: number | undefined;
  readonly currency: string | undefined;
}

const findings = (explanation: string): JsonObject => ({
  findings: [{ category_id: "governance_context", severity: "critical", explanation }],
});

/**
 * Money of no account is nobody's to ask about: who has a governed account says which of them pays.
 * @throws ToolError ACCOUNT_REQUIRED, or ACCOUNT_AMBIGUOUS in older releases, where one of the caller's accounts is governed
 */
export async function requireUngoverned(call: BehaviourCall): Promise<void> {
  const accounts = await callersAccounts(call);
  if (accounts.every(({ governance_agents: agents = [] }) => agents.length === 0)) return;
  const code = call.shapes.knowsError("ACCOUNT_REQUIRED") ? "ACCOUNT_REQUIRED" : "ACCOUNT_AMBIGUOUS";
  throw new ToolError(code, "an account of yours is governed: say which account pays", { field: "account" });
}

/**
 * Returns where the account asks nobody, or where its agent's word is there and no plan that is kept here says otherwise: the
 * money is bound under such a plan then.
 * @returns gives the money back, where nothing comes of it
 * @throws ToolError PERMISSION_DENIED without a word, GOVERNANCE_DENIED where the plan forbids it
 */
export async function requireWord(call: BehaviourCall, account: Account, wanted: Wanted): Promise<() => Promise<void>> {
  if ((account.governance_agents ?? []).length === 0) return async () => undefined;
  const { request } = wanted;
  if ((request.governance_context ?? "") === "") {
    const explanation =
      "A governance agent is registered for this account: ask it by check_governance, and send its word.";
    throw new ToolError("PERMISSION_DENIED", explanation, {
      field: "governance_context",
      details: findings(explanation),
    });
  }
  const action = { ...wanted, request: { ...request } };
  const denial = await bindUnlessDenied(call, account, action);
  if (denial === undefined) return bindAtOnce(call);
  const code = call.shapes.knowsError("GOVERNANCE_DENIED") ? "GOVERNANCE_DENIED" : "PERMISSION_DENIED";
  throw new ToolError(code, denial.message, { field: "governance_context", details: denial.details });
}
