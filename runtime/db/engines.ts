/** Engines by the scheme of a database's URL. To add one: a folder here, and a row. */
import { AdbindError } from "../errors.js";
import { isPassing as isPassingPostgres } from "./postgres/faults.js";
import { bookkeeping as postgresBookkeeping } from "./postgres/migrate.js";
import { openPostgres } from "./postgres/open.js";
import { schema as postgresSchema } from "./postgres/schema/index.js";
import { type Schema, schemaSql } from "./schema.js";
import { isPassing as isPassingSqlite } from "./sqlite/faults.js";
import { bookkeeping as sqliteBookkeeping } from "./sqlite/migrate.js";
import { openSqlite } from "./sqlite/open.js";
import { schema as sqliteSchema } from "./sqlite/schema/index.js";
import type { OpenOptions } from "./types.js";

const engines = {
  sqlite: {
    url: /^sqlite:/,
    open: (url: string, options: OpenOptions) => openSqlite({ ...options, path: url.slice("sqlite:".length) }),
    isPassing: isPassingSqlite,
    schema: sqliteSchema,
    bookkeeping: sqliteBookkeeping,
  },
  postgres: {
    url: /^postgres(ql)?:\/\//,
    open: (url: string, options: OpenOptions) => openPostgres({ ...options, url }),
    isPassing: isPassingPostgres,
    schema: postgresSchema,
    bookkeeping: postgresBookkeeping,
  },
};

export type EngineName = keyof typeof engines;
export type AnyDatabase = Awaited<ReturnType<(typeof engines)[EngineName]["open"]>>;

export const engineNames = Object.keys(engines) as EngineName[];

/**
 * Opens a database by URL.
 * @param url `sqlite:<path>`, or `postgres://...`
 * @throws AdbindError `store_option_invalid` for another URL, `database_unreachable` with the cause, `store_schema` for a
 * database this version cannot use
 */
export async function openDatabase(url: string, options: OpenOptions = {}): Promise<AnyDatabase> {
  const engine = Object.values(engines).find((one) => one.url.test(url));
  if (engine !== undefined) return engine.open(url, options);
  throw new AdbindError("store_option_invalid", "the URL names no store", {
    where: url.split("@").at(-1) ?? "",
    remedy: "give sqlite:<path> or postgres://user@host/database",
  });
}

/** Is an error a database's, and likely gone when asked again? */
export const isPassing = (error: unknown): boolean =>
  error instanceof AdbindError
    ? error.code === "database_busy" || error.code === "database_unreachable"
    : Object.values(engines).some((one) => one.isPassing(error));

/** The schema of an engine, as SQL for a DBA or a migration tool. @param from first version printed */
export function printSchema(engine: EngineName, from = 1): string {
  const { schema, bookkeeping }: { schema: Schema; bookkeeping: string } = engines[engine];
  return schemaSql(schema, bookkeeping, from);
}
