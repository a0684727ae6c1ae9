/** Sessions: a conversation between a person, at the host that calls, and the brand. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { Conversation, PurchaseIntent, SharedIdentity, Utterance } from "../ports/conversations.js";

export type SessionState = "active" | "pending_handoff" | "complete" | "terminated";

export interface Session {
  readonly session_id: string;
  readonly state: SessionState;
  readonly intent: string;
  readonly offering_id?: string;
  readonly shown: readonly string[];
  readonly media_buy_id?: string;
  readonly placement?: string;
  /** Erased when it is over. */
  readonly user: SharedIdentity;
  readonly capabilities: JsonObject;
  /** The last of what was said; erased with what the person shared. */
  readonly said: readonly Utterance[];
  readonly turns: number;
  /** What the brand has offered to sell last, while the host may take over to buy it. */
  readonly wanted?: PurchaseIntent;
  readonly last_at: string;
  /** What the end came to; the same however often it is asked for. */
  readonly end?: JsonObject;
}

export const SESSIONS = "si_session";
export const sessions = collection<Session>(SESSIONS);

/** What a host has said of the sponsored context it was given; kept for audits. */
export interface Receipt {
  readonly session_id: string;
  readonly received_at: string;
  readonly receipt: JsonObject;
}

const receipts = collection<Receipt>("si_receipt");

export function keepReceipt(call: BehaviourCall, session: string, turn: number, receipt: JsonObject | undefined): void {
  if (receipt === undefined) return;
  const kept = { session_id: session, received_at: call.time, receipt };
  receipts.put(call, call.principal, `${session}/${turn}`, kept);
}

/** Things said that are kept for the next answer: both sides of twenty exchanges. */
const SAID = 40;

/** Turns of one session: nobody talks longer with a brand, a loop of two programs does. */
export const MOST_TURNS = 200;

export const sessionEnded = ({ state }: Session): boolean => state === "complete" || state === "terminated";

const idleMs = (call: BehaviourCall): number => call.ports.conversations.idleSeconds * 1_000;

export const isIdle = (call: BehaviourCall, { last_at }: Session): boolean =>
  call.now.getTime() - Date.parse(last_at) > idleMs(call);

/** It is over: what the person shared, and what was said, is kept no longer. */
export const ended = (
  { wanted: _, ...session }: Session,
  state: "complete" | "terminated",
  end: JsonObject = {},
): Session => ({
  ...session,
  state,
  // The first of what the person said.
  intent: "",
  user: {},
  said: [],
  end: { terminated: true, session_status: state, ...end },
});

/**
 * The session as it stands now.
 * @throws ToolError SESSION_NOT_FOUND for one that is not the caller's
 */
export async function sessionOf(call: BehaviourCall, id: string): Promise<Session> {
  const found = await sessions.get(call, call.principal, id);
  if (found === undefined)
    throw new ToolError("SESSION_NOT_FOUND", "there is no such session; si_initiate_session begins one", {
      field: "session_id",
    });
  return sessionEnded(found) || !isIdle(call, found) ? found : ended(found, "terminated");
}

/** Longest text of one message, in characters: a person writes less. */
const LONGEST = 8_000;

/** @throws ToolError INVALID_REQUEST */
export function boundedText(text: string | undefined, field: string): string | undefined {
  if (text === undefined || text.length <= LONGEST) return text;
  throw new ToolError("INVALID_REQUEST", `${field} has ${text.length} characters; at most ${LONGEST} are read`, {
    field,
  });
}

export const withSaid = (session: Session, said: readonly Utterance[], time: string): Session => ({
  ...session,
  said: [...session.said, ...said].slice(-SAID),
  turns: session.turns + 1,
  last_at: time,
});

export const conversationOf = ({ principal }: BehaviourCall, session: Session): Conversation => ({
  sessionId: session.session_id,
  principal,
  intent: session.intent,
  ...(session.offering_id !== undefined && { offeringId: session.offering_id }),
  shown: session.shown,
  ...(session.media_buy_id !== undefined && { mediaBuyId: session.media_buy_id }),
  ...(session.placement !== undefined && { placement: session.placement }),
  user: session.user,
  capabilities: session.capabilities,
  said: session.said,
});
