/** Brings a database file to the schema this code knows, one process at a time. */
import type { Database } from "better-sqlite3";
import { assertComplete, missingStore, type StoreAccess } from "../access.js";
import { type AppliedMigration, checksumOf, pendingMigrations } from "../migrations/index.js";

const listed = (db: Database): AppliedMigration[] =>
  db.prepare<[], AppliedMigration>("select version, checksum from adbind_migrations where dialect = 'sqlite'").all();

function assertStore(db: Database, where: string): void {
  const table = db.prepare("select 1 from sqlite_schema where type = 'table' and name = 'adbind_migrations'").get();
  if (table === undefined) throw missingStore("the database file is no store of adbind", where);
}

/**
 * Finds the schema as this version knows it, or says why not; changes nothing.
 * @throws AdbindError `store_missing`, `store_schema`
 */
export function assertSqlite(db: Database, where: string): void {
  assertStore(db, where);
  assertComplete(pendingMigrations(listed(db), "sqlite", where), where);
}

/**
 * Applies what is missing, all of it or nothing. A second process waits for the write lock and then finds it done.
 * @param access with `change`, the schema has to be there in some version
 * @throws AdbindError `store_missing`; `store_schema` when the file is newer than this code or was made from other text
 */
export function migrateSqlite(db: Database, where: string, access: StoreAccess = "create"): void {
  if (access !== "create") assertStore(db, where);
  db.transaction(() => {
    db.exec(
      "create table if not exists adbind_migrations (version integer primary key, name text not null, " +
        "dialect text not null, checksum text not null, applied_at text not null default current_timestamp) strict",
    );
    const note = db.prepare(
      "insert into adbind_migrations (version, name, dialect, checksum) values (?, ?, 'sqlite', ?)",
    );
    for (const { version, name, sqlite } of pendingMigrations(listed(db), "sqlite", where)) {
      db.exec(sqlite);
      note.run(version, name, checksumOf(sqlite));
    }
  }).immediate();
}
