/** Conversations that nobody goes on with, and what was kept of those that are over. */
import { eachAlone } from "../../queue/periodic.js";
import type { Upkeep } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { seldom } from "../frame/seldom.js";
import { SHOWN_OFFERINGS, shownOfferings } from "./offering.js";
import { ended, isIdle, SESSIONS, sessionEnded, sessions } from "./sessions.js";

/** How often they are looked at, in milliseconds; a session that is asked about knows by itself that it is over. */
const PAUSE_MS = 60_000;

/** How long a session that is over can still be asked about, in milliseconds: a month, for the host's questions. */
const KEPT_MS = 30 * 86_400_000;

export const tidyConversations = seldom(PAUSE_MS, async ({ settings, stopping, onBehalf }: Upkeep): Promise<void> => {
  const { store } = settings;
  const owners = new Set([...(await store.owners(SESSIONS)), ...(await store.owners(SHOWN_OFFERINGS))]);
  await eachAlone(owners, async (principal) => {
    if (!stopping.aborted) await onBehalf(principal, tidy);
  });
});

async function tidy(call: BehaviourCall): Promise<void> {
  const now = call.now.getTime();
  for (const session of await sessions.list(call, call.principal)) {
    const { session_id: id, last_at } = session;
    if (!sessionEnded(session)) {
      // What the person shared is not kept for a conversation that is over.
      if (isIdle(call, session)) sessions.put(call, call.principal, id, ended(session, "terminated"));
    } else if (now - Date.parse(last_at) > KEPT_MS) sessions.remove(call, call.principal, id);
  }
  for (const { token, expires_at } of await shownOfferings.list(call, call.principal))
    if (Date.parse(expires_at) <= now) shownOfferings.remove(call, call.principal, token);
}
