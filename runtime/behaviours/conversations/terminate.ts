import type { JsonObject } from "../../contract/index.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import type { PurchaseIntent } from "../ports/conversations.js";
import { conversationOf, ended, type Session, sessionEnded, sessionOf, sessions } from "./sessions.js";

interface Termination {
  readonly session_id: string;
  readonly reason: string;
  readonly termination_context?: { readonly transaction_intent?: PurchaseIntent };
}

/** What ends well: the host took over. */
const isHandoff = (reason: string): boolean => reason === "handoff_complete" || reason === "handoff_transaction";

/** Where what the person wants is bought. */
async function checkoutOf(call: BehaviourCall, session: Session, request: Termination): Promise<JsonObject> {
  if (request.reason !== "handoff_transaction") return {};
  const intent = request.termination_context?.transaction_intent ?? session.wanted;
  const key = { idempotencyKey: `${session.session_id}-checkout` };
  const found = await call.ports.conversations.checkout?.(conversationOf(call, session), intent, key);
  if (found === undefined) return {};
  // A host must not open anything else.
  if (!/^https:/i.test(found.url)) throw new Error(`the checkout of a conversation is no https URL: ${found.url}`);
  const { url, token, payload, expires_at } = found;
  return {
    acp_handoff: {
      checkout_url: url,
      ...(token !== undefined && { checkout_token: token }),
      ...(payload !== undefined && { payload }),
      ...(expires_at !== undefined && { expires_at }),
    },
  };
}

/** `si_terminate_session`: done again, it answers as it did. */
export const terminateSession: ToolBehaviour = async (request: Termination, call) => {
  const session = await sessionOf(call, request.session_id);
  const over = sessionEnded(session)
    ? session
    : ended(session, isHandoff(request.reason) ? "complete" : "terminated", await checkoutOf(call, session, request));
  sessions.put(call, call.principal, session.session_id, over);
  return call.answer({ session_id: session.session_id, ...over.end });
};
