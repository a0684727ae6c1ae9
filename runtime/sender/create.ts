/** Opens the queue that fits the store, and a sender on it. */
import { clockOf } from "../db/database-time.js";
import { openQueue } from "../queue/open.js";
import { refuseSplit } from "../store/alone.js";
import { senderTables } from "../store/sender-tables.js";
import { OUTBOX_TOPIC } from "./outbox.js";
import { assembleSender, type Sender } from "./sender.js";
import type { SenderOptions } from "./types.js";

/**
 * Makes a sender on a store: SQLite for one machine, PostgreSQL for any number of instances, or several of either, split by principal.
 * @throws AdbindError `sender_option_invalid`, `net_option_invalid`, `split_invalid` for one database of several; as `queue`, where one is given
 */
export async function createSender(options: SenderOptions): Promise<Sender> {
  const { store, queue: open = openQueue } = options;
  if ("principals" in store) {
    // Loaded where it is wanted.
    const { splitSender } = await import("./split/sender.js");
    return splitSender({ ...options, store });
  }
  await refuseSplit(store.database, "principal");
  const { database } = store;
  const now = await clockOf(database, options.now);
  const queue = await open(database, OUTBOX_TOPIC, { now });
  const { where, shared } = database;
  return assembleSender({ queue, tables: senderTables(database), options, place: { where, shared, now } });
}
