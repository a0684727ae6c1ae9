/** The shared engine: many instances on one PostgreSQL, directly or through a transaction pooler. */
import type { PostgresDatabase } from "./database.js";
import type { PostgresOptions } from "./options.js";

export type { PostgresDatabase, PostgresTx } from "./database.js";
export type { PostgresOptions } from "./options.js";

/**
 * Opens a PostgreSQL database and brings its schema to this version; instances that start together take turns.
 * @throws AdbindError `database_unreachable` that says why, `store_schema` when the database is not usable,
 * `package_missing` where `pg` is not installed
 */
export async function openPostgres(options: PostgresOptions): Promise<PostgresDatabase> {
  const { connectPostgres } = await import("./database.js");
  return connectPostgres(options);
}
