/** One body for both databases: a flow runs to its end inside SQLite's synchronous transaction, and waits on PostgreSQL. */
import type { MaybePromise } from "../contract.js";
import { type EachWork, oneOf } from "../queue/each.js";
import type { Queue } from "../queue/types.js";
import { type Flow, isPromise, run, runSync } from "../signing/flow.js";

/** To its end at once, or as a promise, as the queue's database has it. */
const ran = <T>({ kind }: Pick<Queue, "kind">, flow: Flow<T>): MaybePromise<T> =>
  kind === "embedded" ? runSync(flow) : run(flow);

/**
 * Runs a flow in the caller's transaction, or in one of our own.
 * @returns on SQLite with a transaction: no promise, and what the flow throws is thrown
 */
export const inTransaction = <Tx, T>(
  queue: Queue<Tx>,
  tx: Tx | undefined,
  flow: (tx: Tx) => Flow<T>,
): MaybePromise<T> => {
  const work = (open: Tx): MaybePromise<T> => ran(queue, flow(open));
  return tx === undefined ? queue.transact(work) : work(tx);
};

/** A flow over several items, as the queue runs it for many callers at a time. */
export const eachOf =
  <Tx, Item, T>(
    queue: Queue<Tx>,
    flow: (tx: Tx, items: readonly Item[]) => Flow<PromiseSettledResult<T>[]>,
  ): EachWork<Tx, Item, T> =>
  (tx, items) =>
    ran(queue, flow(tx, items));

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
