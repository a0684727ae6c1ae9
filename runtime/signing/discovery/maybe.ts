/** Promises only where something is waited for: a cached key must not cost a turn of the event loop. */
import type { MaybePromise } from "../../contract.js";
import { isPromise } from "../../db/coroutine.js";

/** `await`, but at once when there is nothing to wait for. */
export const chain = <T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> =>
  isPromise(value) ? value.then(next) : next(value);
