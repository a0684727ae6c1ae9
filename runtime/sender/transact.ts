/** Coroutines in a transaction of the caller's, or of the queue's own. */
import type { MaybePromise } from "../contract/index.js";
import type { Coroutine, Locking, Query } from "../db/index.js";
import { type EachWork, lockedElsewhere, oneOf, type SharedWork } from "../queue/each.js";
import type { Queue } from "../queue/types.js";
import type { NeededRows, SenderTables } from "../store/sender-tables.js";

/**
 * Runs a coroutine in the caller's transaction, or in one of our own.
 * @param key what is asked for under it goes in that order, where a row of it is held elsewhere; nothing to a caller's transaction
 * @returns on SQLite with a transaction: no promise, and what it throws is thrown
 */
export const inTransaction = <T>(queue: Queue, tx: unknown, work: SharedWork<T>, key?: string): MaybePromise<T> =>
  tx === undefined ? queue.transact(work, key) : queue.within(tx, (query) => work(query, "wait"));

/**
 * Takes rows that are to be changed, before anything is written. Where others share the transaction none of them waits for a
 * row that an application's holds: whoever needs it leaves them.
 */
export function* takeRows(
  { takeFree }: Pick<SenderTables, "takeFree">,
  tx: Query,
  rows: NeededRows,
  locking: Locking,
): Coroutine<void> {
  // Who waits locks them in its own statements.
  if (locking === "skip" && !(yield* takeFree(tx, rows))) throw lockedElsewhere;
}

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
