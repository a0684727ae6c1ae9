import type { Behaviour } from "../frame/behaviour.js";
import { initiateSession, sendMessage } from "./converse.js";
import { getOffering } from "./offering.js";
import { conversationScenarios } from "./scenarios.js";
import { terminateSession } from "./terminate.js";
import { tidyConversations } from "./upkeep.js";

/** Talking with a brand inside somebody's assistant. */
export const sponsoredIntelligenceBehaviour: Behaviour = {
  area: "sponsored-intelligence",
  tools: {
    si_get_offering: getOffering,
    si_initiate_session: initiateSession,
    si_send_message: sendMessage,
    si_terminate_session: terminateSession,
  },
  capabilities({ agentUrl, ports }) {
    const { capabilities, brandUrl } = ports.conversations;
    return {
      experimental_features: ["sponsored_intelligence.core"],
      sponsored_intelligence: {
        endpoint: { transports: [{ type: "mcp", url: agentUrl }], preferred: "mcp" },
        capabilities,
        ...(brandUrl !== undefined && { brand_url: brandUrl }),
      },
    };
  },
  scenarios: conversationScenarios,
  upkeep: tidyConversations,
};
