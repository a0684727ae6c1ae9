import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection, type DocumentOwner } from "../frame/collection.js";
import { declaredObject } from "../frame/declared-object.js";
import { itemsIn } from "../frame/items-in.js";
import { lineErrors } from "../frame/line-error.js";
import type { GovernanceAgent } from "../ports/accounts.js";
import { type AccountRef, accountOwner, resolveAccount, saveAccount } from "./accounts.js";

interface Wanted {
  readonly accounts: readonly {
    readonly account: AccountRef;
    readonly governance_agents: readonly (GovernanceAgent & { readonly authentication: JsonObject })[];
  }[];
}

const credentials = collection<JsonObject>("governance_credentials");

/** How the buyer wants an agent to be asked. */
export const credentialsOf = (
  call: BehaviourCall,
  owner: DocumentOwner,
  url: string,
): Promise<JsonObject | undefined> => credentials.get(call, owner, url);

/** What the seller declares of the agents that it lets accounts have; undefined where it takes any. */
const accepted = (call: BehaviourCall): JsonObject | undefined =>
  declaredObject(call, call.release.word, "governance_enforcement", "accepted_governance_agents");

/** Is this the agent that a matcher names? Nobody here asks a registry: what one would have to vouch for is not vouched for. */
const isNamed = ({ kind, agent_url: named }: JsonObject, url: string): boolean =>
  kind === "agent_url" && typeof named === "string" && new URL(named).href === new URL(url).href;

/** The refusal of agents that the seller has not declared to take; nobody calls them, and their credentials are not kept. */
function notAccepted(call: BehaviourCall, agents: readonly GovernanceAgent[]): ToolError | undefined {
  const declared = accepted(call);
  const stranger =
    declared && agents.find(({ url }) => !itemsIn<JsonObject>(declared.any_of).some((one) => isNamed(one, url)));
  if (stranger === undefined) return undefined;
  const origin = { attempted_agent_origin: new URL(stranger.url).origin, accepted_governance_agents: declared };
  return new ToolError("GOVERNANCE_AGENT_NOT_ACCEPTED", "this seller takes the word of other governance agents only", {
    field: "governance_agents",
    details: { disclosure: "disclosed", ...origin },
  });
}

/** `sync_governance`: who is to be asked before an account's money is spent. Replaces what was registered. */
export const syncGovernance: ToolBehaviour = async (request: Wanted, call) => {
  const results: JsonObject[] = [];
  for (const { account: ref, governance_agents } of request.accounts) {
    const found = await resolveAccount(call, ref);
    const refused = notAccepted(call, governance_agents);
    if (refused !== undefined) {
      results.push({ account: ref, status: "failed", errors: lineErrors(call, refused) });
      continue;
    }
    const agents = governance_agents.map(({ url, categories }) => ({ url, ...(categories && { categories }) }));
    saveAccount(call, { ...found, governance_agents: agents });
    // Credentials are kept apart from what answers show.
    const owner = accountOwner(call, found);
    for (const { url, authentication } of governance_agents) credentials.put(call, owner, url, { ...authentication });
    results.push({ account: ref, status: "synced", governance_agents: agents });
  }
  return call.answer({ accounts: results });
};
