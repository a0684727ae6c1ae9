import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";

/** What every answer declares: who pays, what the host may do with it, and what it has to disclose. */
export function sponsoredContext({ agentUrl, ports, time }: BehaviourCall): JsonObject {
  const { payer, use, disclosure } = ports.conversations.sponsorship;
  const { required, label, timing, proximity } = disclosure;
  return {
    paying_principal: {
      brand: { domain: payer.domain },
      ...(payer.name !== undefined && { display_name: payer.name }),
    },
    context_use: use,
    disclosure_obligation: {
      required,
      ...(label !== undefined && { label_text: label }),
      ...(timing !== undefined && { timing }),
      ...(proximity !== undefined && { proximity }),
    },
    declared_at: time,
    // Over plain http nobody can be believed to be behind a URL.
    declared_by: { ...(/^https:/i.test(agentUrl) && { agent_url: agentUrl }), role: "brand_agent" },
  };
}
