/** Engines by the scheme of a database's URL. To add one: a folder here, and a row. */
import { AdbindError } from "../errors.js";
import { withoutSecrets } from "./access.js";
import { isOfValues as isOfValuesPostgres, isPassing as isPassingPostgres } from "./postgres/faults.js";
import { migrationTable } from "./postgres/migration-table.js";
import { openPostgres } from "./postgres/open.js";
import { schema as postgresSchema } from "./postgres/schema/index.js";
import { type DatabaseSchema, schemaSql } from "./schema.js";
import { isOfValues as isOfValuesSqlite, isPassing as isPassingSqlite } from "./sqlite/faults.js";
import { bookkeeping as sqliteBookkeeping } from "./sqlite/migrate.js";
import { openSqlite } from "./sqlite/open.js";
import { schema as sqliteSchema } from "./sqlite/schema/index.js";
import type { DatabaseOptions } from "./types.js";

export const engines = {
  sqlite: {
    url: /^sqlite:/,
    open: (url: string, options: DatabaseOptions) => openSqlite({ ...options, path: url.slice("sqlite:".length) }),
    isPassing: isPassingSqlite,
    isOfValues: isOfValuesSqlite,
    schema: sqliteSchema,
    bookkeeping: sqliteBookkeeping,
  },
  postgres: {
    url: /^postgres(ql)?:\/\//,
    open: (url: string, options: DatabaseOptions) => openPostgres({ ...options, url }),
    isPassing: isPassingPostgres,
    isOfValues: isOfValuesPostgres,
    schema: postgresSchema,
    bookkeeping: migrationTable,
  },
};

/** Names an engine. */
export type EngineName = keyof typeof engines;
/** A database of any engine. */
export type AnyDatabase = Awaited<ReturnType<(typeof engines)[EngineName]["open"]>>;

/** Every engine there is. */
export const engineNames = Object.keys(engines) as EngineName[];

/** Whose schema is printed where no engine is named: files bring theirs up by themselves. */
export const schemaEngine: EngineName = "postgres";

/**
 * Opens a database by URL.
 * @param url `sqlite:<path>`, or `postgres://...`
 * @throws AdbindError `store_option_invalid` for another URL, `database_unreachable` with the cause, `store_schema` for a
 * database this version cannot use
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<AnyDatabase> {
  const engine = Object.values(engines).find((one) => one.url.test(url));
  if (engine !== undefined) return engine.open(url, options);
  throw new AdbindError("store_option_invalid", "the URL names no store", {
    where: withoutSecrets(url),
    remedy: "give sqlite:<path> or postgres://user@host/database",
  });
}

/** Is an error a database's, about the values it was given? It is the same when they are given again. */
export const isValueFault = (error: unknown): boolean => Object.values(engines).some((one) => one.isOfValues(error));

/** Is an error a database's, and likely gone when asked again? */
export function isPassingFault(error: unknown): boolean {
  if (!(error instanceof AdbindError)) return Object.values(engines).some((one) => one.isPassing(error));
  if (error.code === "database_failed" || error.code === "transaction_invalid") return isPassingFault(error.cause);
  return error.code === "database_busy" || error.code === "database_unreachable";
}

/** The schema of an engine, as SQL for a DBA or a migration tool. @param from first version printed */
export function printSchema(engine: EngineName, from = 1): string {
  const { schema, bookkeeping }: { schema: DatabaseSchema; bookkeeping: string } = engines[engine];
  return schemaSql(schema, bookkeeping, from);
}
