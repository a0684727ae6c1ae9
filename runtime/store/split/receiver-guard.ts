/** The check of a receiver's writes: whose rows they are, and whether those are here. */

import type { Coroutine } from "../../db/coroutine.js";
import type { Query } from "../../db/types.js";
import { AdbindError } from "../../errors.js";
import type { KeyspaceGuard } from "../guard.js";
import { type Asking, holdKeyspace } from "./elsewhere.js";

export function receiverGuard(asking: Asking): KeyspaceGuard {
  const hold = function* (q: Query, sender: string): Coroutine<void> {
    checkSender(sender);
    yield* holdKeyspace(q, asking, sender);
  };
  const holdFound = function* (q: Query, text: string, value: string | number): Coroutine<void> {
    const [row] = yield* q.rows<{ sender: string }>(text, [value]);
    if (row !== undefined) yield* hold(q, row.sender);
  };
  return {
    sender: hold,
    event: (q, id) =>
      holdFound(
        q,
        "select s.url as sender from adbind_inbox i join adbind_senders s on s.id = i.sender where i.id = ?",
        id,
      ),
    route: (q, route) => holdFound(q, "select sender from adbind_registrations where route = ? limit 1", route),
  };
}

/** @throws AdbindError `registration_invalid`: keyids of nonces are parted from their sender by a blank */
function checkSender(sender: string): void {
  if (sender !== "" && !sender.includes(" ")) return;
  throw new AdbindError("registration_invalid", "a sender of a split store is named with a blank", {
    where: JSON.stringify(sender),
    remedy: "name senders by their agent URL",
  });
}
