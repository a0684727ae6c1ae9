/** Coroutines in a transaction of the caller's, or of the queue's own. */
import type { MaybePromise } from "../contract/index.js";
import { type Coroutine, isPromise } from "../db/coroutine.js";
import { type EachWork, oneOf } from "../queue/each.js";
import type { Queue } from "../queue/types.js";

/**
 * Runs a coroutine in the caller's transaction, or in one of our own.
 * @returns on SQLite with a transaction: no promise, and what it throws is thrown
 */
export const inTransaction = <Tx, T>(
  queue: Queue<Tx>,
  tx: Tx | undefined,
  work: (tx: Tx) => Coroutine<T>,
): MaybePromise<T> => {
  const within = (open: Tx): MaybePromise<T> => queue.database.within(open, () => work(open));
  return tx === undefined ? queue.transact(within) : within(tx);
};

/** A coroutine over several items, as the queue runs it for many callers at a time. */
export const eachOf =
  <Tx, Item, T>(
    queue: Queue<Tx>,
    work: (tx: Tx, items: readonly Item[]) => Coroutine<PromiseSettledResult<T>[]>,
  ): EachWork<Tx, Item, T> =>
  (tx, items) =>
    queue.database.within(tx, () => work(tx, items));

/** Does `work` to one item, in the caller's transaction or in one that is shared with other callers'. */
export const inTransactionEach = <Tx, Item, T>(
  queue: Queue<Tx>,
  tx: Tx | undefined,
  work: EachWork<Tx, Item, T>,
  item: Item,
): MaybePromise<T> => {
  if (tx === undefined) return queue.transactEach(work, item);
  const results = work(tx, [item]);
  return isPromise(results) ? results.then(oneOf) : oneOf(results);
};
