/** One body for both databases: a flow runs to its end inside SQLite's synchronous transaction, and waits on PostgreSQL. */
import type { MaybePromise, Queue } from "../queue/types.js";
import { type Flow, run, runSync } from "../signing/flow.js";

/**
 * Runs a flow in the caller's transaction, or in one of our own.
 * @returns on SQLite with a transaction: no promise, and what the flow throws is thrown
 */
export const inTransaction = <Tx, T>(
  queue: Queue<Tx>,
  tx: Tx | undefined,
  flow: (tx: Tx) => Flow<T>,
): MaybePromise<T> => {
  const work = (open: Tx): MaybePromise<T> => (queue.kind === "embedded" ? runSync(flow(open)) : run(flow(open)));
  return tx === undefined ? queue.transact(work) : work(tx);
};
