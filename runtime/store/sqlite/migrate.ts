/** Brings a database file to the schema this code knows, one process at a time. */
import type { Database } from "better-sqlite3";
import { type AppliedMigration, checksumOf, pendingMigrations } from "../migrations/index.js";

/**
 * Applies what is missing, all of it or nothing. A second process waits for the write lock and then finds it done.
 * @throws AdbindError `store_schema` when the file is newer than this code or was made from other text
 */
export function migrateSqlite(db: Database, where: string): void {
  const listed = (): AppliedMigration[] =>
    db.prepare<[], AppliedMigration>("select version, checksum from adbind_migrations where dialect = 'sqlite'").all();
  db.transaction(() => {
    db.exec(
      "create table if not exists adbind_migrations (version integer primary key, name text not null, " +
        "dialect text not null, checksum text not null, applied_at text not null default current_timestamp) strict",
    );
    const note = db.prepare(
      "insert into adbind_migrations (version, name, dialect, checksum) values (?, ?, 'sqlite', ?)",
    );
    for (const { version, name, sqlite } of pendingMigrations(listed(), "sqlite", where)) {
      db.exec(sqlite);
      note.run(version, name, checksumOf(sqlite));
    }
  }).immediate();
}
