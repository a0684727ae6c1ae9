/** Brings a database to the schema this code knows, one instance at a time. */
import { sql } from "kysely";
import { checksumOf, pendingMigrations } from "../migrations/index.js";
import type { Db } from "./tables.js";

/** Any fixed number: instances that start together take turns on it. */
const MIGRATION_LOCK = 4_221_093_117;

/**
 * Applies what is missing, all of it or nothing.
 * @throws AdbindError `store_schema` when the database is newer than this code or was made from other text
 */
export async function migratePostgres(db: Db, where: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(tx);
    await sql`create table if not exists adbind_migrations (version integer primary key, name text not null,
      dialect text not null, checksum text not null, applied_at timestamptz not null default now())`.execute(tx);
    const applied = await tx
      .selectFrom("adbind_migrations")
      .select(["version", "checksum"])
      .where("dialect", "=", "postgres")
      .execute();
    for (const { version, name, postgres } of pendingMigrations(applied, "postgres", where)) {
      await sql.raw(postgres).execute(tx);
      await tx
        .insertInto("adbind_migrations")
        .values({ version, name, dialect: "postgres", checksum: checksumOf(postgres) })
        .execute();
    }
  });
}
