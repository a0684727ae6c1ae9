/** A synchronous transaction cannot wait; a promise would run on after it has been committed. */
import type { MaybePromise } from "../../contract.js";
import { isPromise } from "../../db/coroutine.js";
import { AdbindError } from "../../errors.js";

/**
 * @param what gave the value: "the effect"
 * @throws AdbindError `store_effect` for a promise; then the transaction is undone
 */
export function refusePromise<T>(value: MaybePromise<T>, what: string): T {
  if (!isPromise(value)) return value;
  // Nobody will look at it any more; its rejection must not end the process.
  value.catch(() => undefined);
  throw new AdbindError("store_effect", `${what} returned a promise, and SQLite's transaction cannot wait`, {
    remedy: "await what it needs before, then do synchronous work",
  });
}
