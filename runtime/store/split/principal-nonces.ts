/**
 * Nonces of requests that callers of a seller sign, apart from those of webhooks: a database may be one of several for receivers,
 * too, and a sender's move for themselves.
 */
import type { ReplayStore } from "../../contract/replay-store.js";
import type { Coroutine } from "../../db/coroutine.js";
import type { KeyspaceGuard } from "../guard.js";
import { senderOfKeyid } from "../keys.js";
import { storeOn } from "../stores.js";
import type { ReplayOptions } from "../types.js";
import { nonceOwner, principalOf } from "./nonce-rows.js";
import type { PrincipalPart, PrincipalRouter } from "./principal-part.js";

/** There are no events and no routes of principals. */
const nothing = function* (): Coroutine<void> {};

const guardOf = ({ hold }: Pick<PrincipalPart, "hold">): KeyspaceGuard => ({
  sender: (q, owner) => hold(q, principalOf(owner)),
  event: nothing,
  route: nothing,
});

/** One for each database, for what each remembers of its counts. */
export function principalReplay(router: PrincipalRouter, options?: ReplayOptions): ReplayStore {
  const made = new Map<string, ReplayStore>();
  const of = (part: PrincipalPart): ReplayStore => {
    const known = made.get(part.name) ?? storeOn(part.database, guardOf(part)).replay(options);
    made.set(part.name, known);
    return known;
  };
  return {
    atCap: (keyid, now) => router.at(senderOfKeyid(keyid), async (part) => of(part).atCap(nonceOwner(keyid), now)),
    insert: (keyid, nonce, expiresAt, now) =>
      router.at(senderOfKeyid(keyid), async (part) => of(part).insert(nonceOwner(keyid), nonce, expiresAt, now)),
  };
}
