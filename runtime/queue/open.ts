/** The queue of each engine. To add one: its file, and a row. */
import type { AnyStore } from "../store/stores.js";
import { embeddedQueue } from "./embedded.js";
import { openBossQueue } from "./pg-boss.js";
import type { Queue } from "./types.js";

export interface QueueOptions {
  /** Unix milliseconds; the system clock by default. */
  readonly now?: () => number;
}

/**
 * Opens the queue that fits a store.
 * @param topic name of its jobs; several queues share a store by it
 */
export async function openQueue<Tx = unknown>(
  store: AnyStore,
  topic: string,
  options: QueueOptions = {},
): Promise<Queue<Tx>> {
  const queue = "pool" in store ? await openBossQueue(store, topic, options) : embeddedQueue(store, topic, options);
  // `Tx` is the store's own, which its type does not say of a union.
  return queue as Queue as Queue<Tx>;
}
