/** One database as an operator works on it: it may be one of several, and what he is about to change elsewhere. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Query } from "../../db/types.js";
import { AdbindError } from "../../errors.js";
import { shareKeyspace } from "./rows.js";

/**
 * Holds a principal's events to the end of the transaction, for who works on one database, whether or not it is one of several.
 * @throws AdbindError `split_moving`, and `split_wrong_database` with the name of the database that has them
 */
export function* holdAlone(q: Query, principal: string): Coroutine<void> {
  const row = yield* shareKeyspace(q, "principal", principal);
  if (row === undefined || row.state === "here") return;
  const { state, peer } = row;
  if (state === "moving")
    throw new AdbindError("split_moving", "the principal's events are being moved to another database", {
      where: principal,
      remedy: "nothing was changed; try again in some seconds, `adbind split status` shows how far it is",
    });
  const whereTo = state === "moved" ? "went to" : "are still in";
  throw new AdbindError("split_wrong_database", `the principal's events ${whereTo} the database ${peer}`, {
    where: principal,
    remedy: "nothing was changed; list them there, where they have other numbers",
  });
}
