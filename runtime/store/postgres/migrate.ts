/** Brings a database to the schema this code knows, one instance at a time. */
import { sql } from "kysely";
import { assertComplete, missingStore, type StoreAccess } from "../access.js";
import { checksumOf, pendingMigrations } from "../migrations/index.js";
import type { Db, Tx } from "./tables.js";

/** Any fixed number: instances that start together take turns on it. */
const MIGRATION_LOCK = 4_221_093_117;

const listed = (db: Db | Tx) =>
  db.selectFrom("adbind_migrations").select(["version", "checksum"]).where("dialect", "=", "postgres").execute();

async function assertStore(db: Db | Tx, where: string): Promise<void> {
  const { rows } = await sql<{ found: string | null }>`select to_regclass('adbind_migrations')::text as found`.execute(
    db,
  );
  if (rows[0]?.found == null) throw missingStore("the database holds no store of adbind", where);
}

/**
 * Finds the schema as this version knows it, or says why not; changes nothing.
 * @throws AdbindError `store_missing`, `store_schema`
 */
export async function assertPostgres(db: Db, where: string): Promise<void> {
  await assertStore(db, where);
  assertComplete(pendingMigrations(await listed(db), "postgres", where), where);
}

/**
 * Applies what is missing, all of it or nothing.
 * @param access with `change`, the schema has to be there in some version
 * @throws AdbindError `store_missing`; `store_schema` when the database is newer than this code or was made from other text
 */
export async function migratePostgres(db: Db, where: string, access: StoreAccess = "create"): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (access !== "create") await assertStore(tx, where);
    await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(tx);
    await sql`create table if not exists adbind_migrations (version integer primary key, name text not null,
      dialect text not null, checksum text not null, applied_at timestamptz not null default now())`.execute(tx);
    for (const { version, name, postgres } of pendingMigrations(await listed(tx), "postgres", where)) {
      await sql.raw(postgres).execute(tx);
      await tx
        .insertInto("adbind_migrations")
        .values({ version, name, dialect: "postgres", checksum: checksumOf(postgres) })
        .execute();
    }
  });
}
