import { createPrincipals, declaredPrincipals, type PrincipalTools } from "../../seller/principals.js";
import { ToolError } from "../../seller/tool-error.js";
import type { Behaviour, ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourReply } from "../frame/call.js";

/** The tool as the seller room has it, for the sender of the call. */
const tool =
  (name: keyof PrincipalTools<never>): ToolBehaviour =>
  async (request, call) => {
    const { sender } = call.ctx;
    if (sender === undefined) throw new ToolError("UNSUPPORTED_FEATURE", "Nobody is told of anything here.");
    return (await createPrincipals<object>({ sender }).tools[name](request, call.context)) as BehaviourReply;
  };

/** What a caller has standing with the seller, apart from any account. */
export const principalsBehaviour: Behaviour = {
  area: "principals",
  tools: {
    sync_agent_notification_configs: tool("sync_agent_notification_configs"),
    sync_principal: tool("sync_principal"),
    get_principal: tool("get_principal"),
  },
  capabilities: ({ release }) => declaredPrincipals({}, release),
};
