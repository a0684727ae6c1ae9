/** Work on several items in one transaction, for callers who ask with one each. */
import type { Coroutine, Locking, Query } from "../db/index.js";

/**
 * Answers a result for each item, in their order. An item it rejects wrote nothing; what it throws undoes them all.
 * @param locking with `skip`, an item whose rows another transaction holds is rejected with `lockedElsewhere`
 */
export interface EachWork<Item, T> {
  (query: Query, items: readonly Item[], locking: Locking): Coroutine<readonly PromiseSettledResult<T>[]>;
  /**
   * The same in one statement, which needs no transaction around it and waits for no row; undefined where nothing was
   * written, and it takes more than one.
   */
  readonly atOnce?: (query: Query, items: readonly Item[]) => Coroutine<readonly PromiseSettledResult<T>[] | undefined>;
}

/** What an item is rejected with whose rows are held by another transaction: it is asked again, and waits, by itself. */
export const lockedElsewhere = Symbol("another transaction holds its rows");

/**
 * Work of one caller. With `skip` it throws `lockedElsewhere` where another transaction holds a row it needs, before it has
 * written anything.
 */
export type SharedWork<T> = (query: Query, locking: Locking) => Coroutine<T>;

/** Work of one caller as that of each: what it throws undoes the others', but where it only met a row that is held. */
export const eachOf = <T>(work: SharedWork<T>): EachWork<undefined, T> =>
  function* (query, _, locking) {
    try {
      return [{ status: "fulfilled", value: yield* work(query, locking) }];
    } catch (reason) {
      if (reason === lockedElsewhere) return [{ status: "rejected", reason }];
      throw reason;
    }
  };

/** The value of the only item. @throws what it was rejected with */
export function oneOf<T>([only]: readonly PromiseSettledResult<T>[]): T {
  if (only!.status === "rejected") throw only!.reason;
  return only!.value;
}
