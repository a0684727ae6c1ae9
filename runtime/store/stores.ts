/** What a receiver remembers, on each engine. To add one: a folder here, and a row. */
import { clockOfOpened } from "../db/database-time.js";
import { type AnyDatabase, openDatabase } from "../db/open.js";
import type { DatabaseOptions } from "../db/types.js";
import type { KeyspaceGuard } from "./guard.js";
import type { KeyspaceCounts } from "./keyspace-counts.js";
import { postgresCounts } from "./postgres/keyspace-counts.js";
import { type PostgresStore, postgresStore } from "./postgres/open.js";
import { sqliteCounts } from "./sqlite/keyspace-counts.js";
import { type SqliteStore, sqliteStore } from "./sqlite/open.js";
import type { ReceiverStore } from "./types.js";

type OfEngine = SqliteStore | PostgresStore;

/** What effects are given by a store of each engine. */
type TxOf<Store> = Store extends ReceiverStore<infer Tx> ? Tx : never;

/**
 * A store of any engine. Its inbox is also said to be of either's transaction: of a union TypeScript would take one engine's for
 * all, and `createReceiver` would refuse what `openStore` gives.
 */
export type AnyStore = OfEngine & Pick<ReceiverStore<TxOf<OfEngine>>, "inbox">;

/**
 * A store on a database that is open already; closing it closes that.
 * @param keyspaces asked in each transaction that writes, where the database is one of several
 * @param now the clock of the database's server, as `openStore` asks for it; unix milliseconds
 */
export function storeOn(database: AnyDatabase, keyspaces?: KeyspaceGuard, now?: () => number): AnyStore {
  switch (database.engine) {
    case "sqlite":
      return sqliteStore(database, keyspaces);
    case "postgres":
      return postgresStore(database, { keyspaces, now });
  }
}

/**
 * Opens a store by URL.
 * @param url `sqlite:<path>`, or `postgres://...`
 * @throws AdbindError `store_option_invalid` for another URL, `database_unreachable` with the cause, `store_schema` for a
 * database this version cannot use
 */
export const openStore = async (url: string, options?: DatabaseOptions): Promise<AnyStore> => {
  const database = await openDatabase(url, options);
  return storeOn(database, undefined, await clockOfOpened(database));
};

/** How a database counts what its keyspaces have. */
export function keyspaceCountsOf(engine: AnyDatabase["engine"]): KeyspaceCounts {
  switch (engine) {
    case "sqlite":
      return sqliteCounts;
    case "postgres":
      return postgresCounts;
  }
}
