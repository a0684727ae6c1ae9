import { extra, type JsonObject } from "adbind/contract";
import type { Call, Request } from "../../handler.js";
import { type GovernanceAgent, resolveAccount, saveAccount } from "./accounts.js";

/** `sync_governance`: who is to be asked before an account's money is spent. Replaces what was registered. */
export function syncGovernance(call: Call, request: Request<"sync_governance">): JsonObject {
  const results = request.accounts.map(({ account: ref, governance_agents }) => {
    const found = resolveAccount(call, ref);
    const agents: GovernanceAgent[] = governance_agents.map((agent) => {
      // Some releases say what an agent is asked about.
      const categories = extra(agent, "categories") as readonly string[] | undefined;
      return { url: agent.url, ...(categories !== undefined && { categories: [...categories] }) };
    });
    saveAccount(call, { ...found, governance_agents: agents });
    // Credentials are kept apart from what answers show.
    for (const { url, authentication } of governance_agents)
      call.documents.put("governance_credentials", `${call.principal}/${found.account_id}`, url, { ...authentication });
    return { account: ref, status: "synced", governance_agents: agents };
  });
  return { accounts: results };
}
