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

type OnSqlite = SenderOptions<Database> & { readonly store: SqliteStore };
type OnPostgres = SenderOptions<PostgresTx> & { readonly store: PostgresStore };

const isOnSqlite = (options: OnSqlite | OnPostgres): options is OnSqlite => options.store.kind === "sqlite";

/**
 * Makes a sender on a store: SQLite for one machine, PostgreSQL for any number of instances.
 * @throws AdbindError `sender_option_invalid`, `net_option_invalid`
 */
export function createSender(options: OnSqlite): Promise<Sender<Database>>;
export function createSender(options: OnPostgres): Promise<Sender<PostgresTx>>;
export async function createSender(options: OnSqlite | OnPostgres): Promise<Sender<Database> | Sender<PostgresTx>> {
  const clock = options.now === undefined ? {} : { now: options.now };
  if (isOnSqlite(options)) {
    const queue = embeddedQueue(options.store, OUTBOX_TOPIC, clock);
    return assembleSender({ queue, tables: senderTables(sqliteRunner(), ""), options });
  }
  const queue = await openBossQueue(options.store, OUTBOX_TOPIC, clock);
  return assembleSender({ queue, tables: senderTables(postgresRunner, " for update"), options });
}
