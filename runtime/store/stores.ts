/** What a receiver remembers, on each engine. To add one: a folder here, and a row. */
import { type AnyDatabase, openDatabase } from "../db/open.js";
import type { DatabaseOptions } from "../db/types.js";
import { type PostgresStore, postgresStore } from "./postgres/open.js";
import { type SqliteStore, sqliteStore } from "./sqlite/open.js";

/** A store of any engine. */
export type AnyStore = SqliteStore | PostgresStore;

/** A store on a database that is open already; closing it closes that. */
export function storeOn(database: AnyDatabase): AnyStore {
  switch (database.engine) {
    case "sqlite":
      return sqliteStore(database);
    case "postgres":
      return postgresStore(database);
  }
}

/**
 * Opens a store by URL.
 * @param url `sqlite:<path>`, or `postgres://...`
 * @throws AdbindError `store_option_invalid` for another URL, `database_unreachable` with the cause, `store_schema` for a
 * database this version cannot use
 */
export const openStore = async (url: string, options?: DatabaseOptions): Promise<AnyStore> =>
  storeOn(await openDatabase(url, options));
