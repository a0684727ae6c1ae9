/** Durable state: one interface, on SQLite for one machine and on PostgreSQL for many. All SQL is in this room. */
import { AdbindError } from "../errors.js";
import { openPostgresStore, type PostgresStore } from "./postgres/open.js";
import { openSqliteStore, type SqliteStore } from "./sqlite/open.js";

export { openPostgresStore, type PostgresOptions, type PostgresStore } from "./postgres/open.js";
export * from "./registry-access.js";
export { openSqliteStore, type SqliteOptions, type SqliteStore } from "./sqlite/open.js";
export type * from "./types.js";

/**
 * Opens a store by URL.
 * @param url `sqlite:<path>`, or `postgres://...`
 * @throws AdbindError `store_option_invalid` for another URL, `store_schema` for a database this version cannot use
 */
export async function openStore(url: string): Promise<SqliteStore | PostgresStore> {
  if (url.startsWith("sqlite:")) return openSqliteStore({ path: url.slice("sqlite:".length) });
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgresStore({ url });
  throw new AdbindError("store_option_invalid", "the URL names no store", {
    where: url.split("@").at(-1) ?? "",
    remedy: "give sqlite:<path> or postgres://user@host/database",
  });
}
