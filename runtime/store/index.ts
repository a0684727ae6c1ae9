/** Durable state: one interface, on SQLite for one machine and on PostgreSQL for many. All SQL is in this room. */
import { AdbindError } from "../errors.js";
import { type AccessOptions, withoutSecrets } from "./access.js";
import { openPostgresStore, type PostgresStore } from "./postgres/open.js";
import { openSqliteStore, type SqliteStore } from "./sqlite/open.js";

export type { AccessOptions, StoreAccess } from "./access.js";
export { openPostgresStore, type PostgresOptions, type PostgresStore } from "./postgres/open.js";
export * from "./registry-access.js";
export { openSqliteStore, type SqliteOptions, type SqliteStore } from "./sqlite/open.js";
export type * from "./types.js";

/**
 * Opens a store by URL.
 * @param url `sqlite:<path>`, or `postgres://...`
 * @throws AdbindError `store_option_invalid` for another URL or what cannot be opened, `store_schema` for a database this
 * version cannot use, `store_missing` where none is to be made
 */
export async function openStore(url: string, options: AccessOptions = {}): Promise<SqliteStore | PostgresStore> {
  if (url.startsWith("sqlite:")) return openSqliteStore({ path: url.slice("sqlite:".length), ...options });
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgresStore({ url, ...options });
  throw new AdbindError("store_option_invalid", "the URL names no store", {
    where: withoutSecrets(url),
    remedy: "give sqlite:<path> or postgres://user@host/database",
  });
}
