/** Asks the governance agents of an account before its money is committed; without their word it is not. */
import type { JsonObject } from "../../contract/index.js";
import { isEndOver } from "../../moment.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Account, GovernanceAgent } from "../ports/accounts.js";
import { accountOwner, findAccount } from "./accounts.js";
import { credentialsOf } from "./governance.js";

/** The area of a seller that asks. */
export const GOVERNANCE_CHECKS = "governance-checks";

/** Money that is about to be committed. */
export interface Commitment {
  /** The tool by which it would be. */
  readonly tool: string;
  readonly phase: "purchase" | "modification";
  readonly accountId: string;
  /** What the buyer's request, or the order it changes, names. */
  readonly planId?: unknown;
  readonly context?: unknown;
  /** Who pays, where the order says so. */
  readonly invoiceRecipient?: unknown;
  /** What will be delivered, as `core/planned-delivery.json` has it; `total_budget` in units of `currency`. */
  readonly planned: JsonObject & { readonly currency: string };
  /** By how much the committed money grows, in the same currency. */
  readonly increase: number;
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/**
 * Returns when every agent that is registered for the account has approved.
 * @throws ToolError PERMISSION_DENIED where the buyer names no authorization, GOVERNANCE_DENIED for a verdict that is not
 * `approved`, GOVERNANCE_UNAVAILABLE where there is none
 */
export async function checkCommitment(call: BehaviourCall, commitment: Commitment): Promise<void> {
  if (!call.served.has(GOVERNANCE_CHECKS)) return;
  const account = await findAccount(call, commitment.accountId);
  const agents = account?.governance_agents ?? [];
  if (account === undefined || agents.length === 0) return;
  const request = requestOf(call, commitment);
  await Promise.all(agents.map((agent) => askOne(call, account, agent, request)));
}

/** The question, as the release has it. */
function requestOf(call: BehaviourCall, commitment: Commitment): JsonObject {
  const { tool, phase, planId, context, planned, increase, invoiceRecipient } = commitment;
  const [plan, token] = [text(planId), text(context)];
  // Where orders carry the authorization itself, a plan's name is none.
  const carried = call.shapes.request(tool).has("governance_context");
  if (carried ? token === undefined : (plan ?? token) === undefined)
    throw new ToolError(
      "PERMISSION_DENIED",
      "the account has governance agents: name what they have approved of this order",
      { field: carried ? "governance_context" : "plan_id" },
    );
  const { currency } = planned;
  return call.shapes.request("check_governance").fit({
    ...(plan !== undefined && { plan_id: plan }),
    ...(token !== undefined && { governance_context: token, execution_commitment: { amount: increase, currency } }),
    caller: call.agentUrl,
    purchase_type: "media_buy",
    phase,
    ...(invoiceRecipient != null && { invoice_recipient: invoiceRecipient }),
    planned_delivery: planned,
  });
}

const isVerdict = (value: unknown): value is string => ["approved", "denied", "conditions"].includes(value as string);

async function askOne(
  call: BehaviourCall,
  account: Account,
  { url }: GovernanceAgent,
  request: JsonObject,
): Promise<void> {
  const given = await credentialsOf(call, accountOwner(call, account), url);
  const answer = await call.ports.governance
    .check({ url, bearer: text(given?.credentials), request, word: call.release.word })
    .catch((error: unknown) => {
      call.ctx.logger?.warn({ err: error, agent: url }, "a governance agent gave no answer; nothing is committed");
      return undefined;
    });
  // Releases name the field differently, and one of the names has another meaning in the other.
  const verdict = [answer?.verdict, answer?.status].find(isVerdict);
  const lapsed = isEndOver(answer?.expires_at, call.now.getTime());
  if (answer === undefined || verdict === undefined || (verdict === "approved" && lapsed))
    throw new ToolError("GOVERNANCE_UNAVAILABLE", "a governance agent of the account gave no decision that holds", {
      details: { agent_url: url },
    });
  if (verdict === "approved") return;
  const { explanation, findings, conditions, check_id } = answer;
  const said = text(explanation)?.slice(0, MOST_OF_WORDS) ?? "a governance agent of the account has denied this";
  const passedOn = Object.entries({ check_id, findings, conditions }).filter(([, value]) => isPassedOn(value));
  throw new ToolError("GOVERNANCE_DENIED", said, { details: { agent_url: url, ...Object.fromEntries(passedOn) } });
}

/** Characters of an agent's explanation that the buyer reads: longer messages are not believed by readers of errors. */
const MOST_OF_WORDS = 2_000;
/** Characters of the JSON of what an agent gives beside it; the buyer can ask the agent for more. */
const MOST_OF_PART = 32_000;

/** What another agent says has no bound of its own, and is kept under the caller's key. */
const isPassedOn = (value: unknown): boolean => value !== undefined && JSON.stringify(value).length <= MOST_OF_PART;
