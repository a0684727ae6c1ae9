/** Effects run inside a transaction: on SQLite they must not wait, and on PostgreSQL what they begin has to be waited for. */
import type { MaybePromise } from "../../contract/index.js";
import { isPromise } from "../../db/coroutine.js";

/** A write whose answer nobody needs: `ctx.effect((tx) => written(sender.channels.close(id, { tx })))`. */
export const written = <T>(value: MaybePromise<T>): MaybePromise<void> =>
  isPromise(value) ? value.then(() => undefined) : undefined;

/** One effect after the other. */
export const effectsInTurn =
  <Tx>(effects: readonly ((tx: Tx) => MaybePromise<void>)[]) =>
  (tx: Tx): MaybePromise<void> => {
    const [first, ...rest] = effects;
    if (first === undefined) return undefined;
    const done = first(tx);
    return isPromise(done) ? done.then(() => effectsInTurn(rest)(tx)) : effectsInTurn(rest)(tx);
  };
