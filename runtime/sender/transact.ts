/** Coroutines in a transaction of the caller's, or of the queue's own. */
import type { MaybePromise } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { type EachWork, oneOf } from "../queue/each.js";
import type { Queue } from "../queue/types.js";
import type { SenderTables } from "../store/sender-tables.js";

/**
 * Runs a coroutine in the caller's transaction, or in one of our own.
 * @returns on SQLite with a transaction: no promise, and what it throws is thrown
 */
export const inTransaction = <T>(queue: Queue, tx: unknown, work: (query: Query) => Coroutine<T>): MaybePromise<T> =>
  tx === undefined ? queue.transact(work) : queue.within(tx, work);

/** Holds the principal of what is asked for, where it is named: what is not found in one of several databases may have moved. */
export function* holdOwner(
  { hold }: Pick<SenderTables, "hold">,
  tx: Query,
  principal: string | undefined,
): Coroutine<void> {
  if (principal !== undefined && hold !== undefined) yield* hold(tx, principal);
}

/** Several callers may ask for it at a time. */
export interface AskedItem<Item> {
  readonly item: Item;
  /** Items under one key are done in the order they were asked for. */
  readonly key: string;
}

/** Does `work` to one item, in the caller's transaction or in one that is shared with other callers'. */
export const inTransactionEach = <Item, T>(
  queue: Queue,
  tx: unknown,
  work: EachWork<Item, T>,
  { item, key }: AskedItem<Item>,
): MaybePromise<T> => {
  if (tx === undefined) return queue.transactEach(work, item, key);
  return queue.within(tx, function* (query) {
    return oneOf(yield* work(query, [item], "wait"));
  });
};
