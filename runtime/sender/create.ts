/** Opens the queue that fits the store, and a sender on it. */
import type { Database } from "better-sqlite3";
import { embeddedQueue } from "../queue/embedded.js";
import { openBossQueue } from "../queue/pg-boss.js";
import type { PostgresStore, SqliteStore } from "../store/index.js";
import type { Tx as PostgresTx } from "../store/postgres/tables.js";
import { postgresRunner, senderTables, sqliteRunner } from "../store/sender-tables.js";
import { OUTBOX_TOPIC } from "./outbox.js";
import { assembleSender, type Sender } from "./sender.js";
import type { SenderOptions } from "./types.js";

/**
 * Makes a sender on a store: SQLite for one machine, PostgreSQL for any number of instances.
 * @throws AdbindError `sender_option_invalid`, `net_option_invalid`
 */
export function createSender(
  options: SenderOptions<Database> & { readonly store: SqliteStore },
): Promise<Sender<Database>>;
export function createSender(
  options: SenderOptions<PostgresTx> & { readonly store: PostgresStore },
): Promise<Sender<PostgresTx>>;
export async function createSender(options: SenderOptions<never>): Promise<Sender<Database> | Sender<PostgresTx>> {
  const { store, now } = options;
  if (store.kind === "sqlite") {
    const queue = embeddedQueue(store, OUTBOX_TOPIC, now === undefined ? {} : { now });
    return assembleSender({ queue, tables: senderTables(sqliteRunner(), ""), options: options as never });
  }
  const queue = await openBossQueue(store, OUTBOX_TOPIC, now === undefined ? {} : { now });
  return assembleSender({ queue, tables: senderTables(postgresRunner, " for update"), options: options as never });
}
