/** A session from its first word to its last. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { repetitionOf } from "../frame/repetition.js";
import type { BrandReply, ConversationTurn, SharedIdentity, Utterance } from "../ports/conversations.js";
import { sharedCapabilities, shownElements } from "./negotiate.js";
import { offeringOf, shownBy, unavailability } from "./offering.js";
import {
  boundedText,
  conversationOf,
  ended,
  keepReceipt,
  MOST_TURNS,
  type Session,
  type SessionState,
  sessionEnded,
  sessionOf,
  sessions,
  withSaid,
} from "./sessions.js";
import { sponsoredContext } from "./sponsored.js";

interface Identity {
  readonly consent_granted: boolean;
  readonly consent_scope?: readonly string[];
  readonly user?: SharedIdentity;
}

interface Beginning {
  readonly intent: string;
  readonly identity: Identity;
  readonly media_buy_id?: string;
  readonly placement?: string;
  readonly offering_id?: string;
  readonly offering_token?: string;
  readonly supported_capabilities?: JsonObject;
  readonly sponsored_context_receipt?: JsonObject;
}

/** Fields that a person is known by. What he has not agreed to share is neither kept nor passed on. */
const shareable = ["name", "email", "phone", "locale", "shipping_address"] as const;

function sharedBy({ consent_granted, consent_scope: scope, user = {} }: Identity): SharedIdentity {
  if (!consent_granted) return {};
  const agreed = shareable.filter((name) => user[name] !== undefined && (scope?.includes(name) ?? true));
  return Object.fromEntries(agreed.map((name) => [name, user[name]]));
}

/** What the request says of an offering, by its token or its id. */
async function offeredBefore(call: BehaviourCall, { offering_id: id, offering_token: token }: Beginning) {
  const shown = token === undefined ? undefined : await shownBy(call, token);
  if (token !== undefined && shown === undefined)
    throw new ToolError("INVALID_REQUEST", "the token is not one of si_get_offering's, or it has lapsed", {
      field: "offering_token",
    });
  const named = id ?? shown?.offering_id;
  if (named === undefined) return { shown: [] };
  const why = unavailability(call, await offeringOf(call, named));
  if (why !== undefined)
    throw new ToolError("INVALID_REQUEST", `the offering cannot be had now: ${why}`, { field: "offering_id" });
  return { offering_id: named, shown: shown?.offering_id === named ? shown.products : [] };
}

/** What a reply leaves the session in: a handoff is the host's to carry out, and to end the session with. */
const stateAfter = ({ handoff }: BrandReply, turns: number): SessionState =>
  turns >= MOST_TURNS ? "complete" : handoff === undefined ? "active" : "pending_handoff";

const spoken = (turn: ConversationTurn, reply: BrandReply, at: string): Utterance[] => [
  ...(turn.message === undefined ? [] : [{ from: "user" as const, text: turn.message, at }]),
  { from: "brand", text: reply.message, at },
];

/** One turn: the brand answers, and the session is as that leaves it. */
async function turned(call: BehaviourCall, before: Session, said: Omit<ConversationTurn, "conversation">) {
  const turn: ConversationTurn = { conversation: conversationOf(call, before), ...said };
  // Of an answer that was lost the person may have said something else by now.
  const digest = createHash("sha256").update(canonicalize(said)!).digest("hex").slice(0, 12);
  const key = { idempotencyKey: `${before.session_id}-${before.turns}-${digest}` };
  const reply = await call.ports.conversations.reply(turn, key);
  const session = withSaid(before, spoken(turn, reply, call.time), call.time);
  const state = stateAfter(reply, session.turns);
  const { wanted: _, ...open } = session;
  const offered = reply.handoff?.type === "transaction" ? { wanted: reply.handoff.intent } : {};
  const kept = state === "complete" ? ended(session, state) : { ...open, ...offered, state };
  sessions.put(call, call.principal, session.session_id, kept);
  const elements = shownElements(session.capabilities, reply.elements ?? []);
  return {
    handoff: handoffOf(reply, state),
    answer: {
      session_id: session.session_id,
      response: { message: reply.message, ...(elements.length > 0 && { ui_elements: elements }) },
      session_status: state,
      sponsored_context: sponsoredContext(call),
    },
  };
}

function handoffOf({ handoff }: BrandReply, state: SessionState): JsonObject {
  if (handoff === undefined || state !== "pending_handoff") return {};
  if (handoff.type === "complete") return { handoff };
  const { intent, summary, offers } = handoff;
  const more = {
    ...(summary !== undefined && { conversation_summary: summary }),
    ...(offers !== undefined && { applied_offers: offers }),
  };
  return { handoff: { type: "transaction", intent, context_for_checkout: more } };
}

/** `si_initiate_session`: a person wants to talk with the brand. */
export const initiateSession: ToolBehaviour = async (request: Beginning, call) => {
  const { media_buy_id, placement, supported_capabilities: theirs, sponsored_context_receipt: receipt } = request;
  const session: Session = {
    // The same where it is begun again: its first answer was asked for under that.
    session_id: `si_${repetitionOf(call, request, 0).slice(0, 20)}`,
    state: "active",
    intent: boundedText(request.intent, "intent") ?? "",
    ...(await offeredBefore(call, request)),
    ...(media_buy_id !== undefined && { media_buy_id }),
    ...(placement !== undefined && { placement: boundedText(placement, "placement") ?? "" }),
    user: sharedBy(request.identity),
    capabilities: sharedCapabilities(call.ports.conversations.capabilities, theirs),
    said: [],
    turns: 0,
    last_at: call.time,
  };
  keepReceipt(call, session.session_id, 0, receipt);
  const { answer } = await turned(call, session, {});
  return call.answer({
    ...answer,
    negotiated_capabilities: session.capabilities,
    session_ttl_seconds: call.ports.conversations.idleSeconds,
  });
};

interface Message {
  readonly session_id: string;
  readonly message?: string;
  readonly action_response?: { readonly action?: string; readonly payload?: JsonObject };
  readonly sponsored_context_receipt?: JsonObject;
}

/** `si_send_message`: what the person says next, or which button he used. */
export const sendMessage: ToolBehaviour = async (request: Message, call) => {
  const session = await sessionOf(call, request.session_id);
  if (sessionEnded(session)) {
    const what = `the session is ${session.state}: it takes no more messages; si_initiate_session begins another`;
    throw new ToolError("SESSION_TERMINATED", what, { field: "session_id" });
  }
  const message = boundedText(request.message, "message");
  const { action, payload } = request.action_response ?? {};
  if (message === undefined && action === undefined)
    throw new ToolError("INVALID_REQUEST", "say which button was used", { field: "action_response.action" });
  keepReceipt(call, session.session_id, session.turns, request.sponsored_context_receipt);
  const { answer, handoff } = await turned(call, session, {
    ...(message !== undefined && { message }),
    ...(action !== undefined && { action: { action, ...(payload !== undefined && { payload }) } }),
  });
  return call.answer({ ...answer, ...handoff });
};
