/** Work on several items in one transaction, for callers who ask with one each. */
import type { MaybePromise } from "../contract/index.js";

/** Answers a result for each item, in their order. An item it rejects wrote nothing; what it throws undoes them all. */
export type EachWork<Tx, Item, T> = (
  tx: Tx,
  items: readonly Item[],
) => MaybePromise<readonly PromiseSettledResult<T>[]>;

/** The value of the only item. @throws what it was rejected with */
export function oneOf<T>([only]: readonly PromiseSettledResult<T>[]): T {
  if (only!.status === "rejected") throw only!.reason;
  return only!.value;
}
