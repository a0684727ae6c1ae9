import type { JsonObject } from "../../contract/index.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection, type DocumentOwner } from "../frame/collection.js";
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

/** `sync_governance`: who is to be asked before an account's money is spent. Replaces what was registered. */
export const syncGovernance: ToolBehaviour = async (request: Wanted, call) => {
  const results: JsonObject[] = [];
  for (const { account: ref, governance_agents } of request.accounts) {
    const found = await resolveAccount(call, ref);
    const agents = governance_agents.map(({ url, categories }) => ({ url, ...(categories && { categories }) }));
    saveAccount(call, { ...found, governance_agents: agents });
    // Credentials are kept apart from what answers show.
    const owner = accountOwner(call, found);
    for (const { url, authentication } of governance_agents) credentials.put(call, owner, url, { ...authentication });
    results.push({ account: ref, status: "synced", governance_agents: agents });
  }
  return call.answer({ accounts: results });
};
