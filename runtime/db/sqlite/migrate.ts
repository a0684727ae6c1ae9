/** Brings a database file to a schema, one process at a time. */
import type { Database } from "better-sqlite3";
import { type AppliedStep, missingSteps, noteStep, type Schema } from "../schema.js";

/** The table of applied steps. */
export const bookkeeping = `create table if not exists adbind_migrations (
  version integer primary key,
  name text not null,
  checksum text not null,
  compatible_from integer not null,
  applied_at text not null default current_timestamp
) strict;`;

export function appliedSteps(db: Database): AppliedStep[] {
  const table = db.prepare("select 1 from sqlite_master where type = 'table' and name = 'adbind_migrations'").get();
  if (table === undefined) return [];
  return db.prepare<[], AppliedStep>("select version, name, checksum, compatible_from from adbind_migrations").all();
}

/**
 * Applies what is missing, all of it or nothing. A second process waits for the write lock and then finds it done.
 * @returns names of what was applied
 * @throws AdbindError `store_schema` when this code cannot use the file
 */
export function migrate(db: Database, schema: Schema, where: string): string[] {
  if (missingSteps(schema, appliedSteps(db), where).length === 0) return [];
  return db
    .transaction(() => {
      const missing = missingSteps(schema, appliedSteps(db), where);
      db.exec(bookkeeping);
      for (const step of missing) db.exec(`${step.sql}\n${noteStep(step)}`);
      return missing.map(({ name }) => name);
    })
    .immediate();
}
