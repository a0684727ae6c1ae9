/** The driver of SQLite. */
import type Sqlite from "better-sqlite3";
import { type Driver, driver } from "../driver.js";

export const sqlite: Driver<typeof Sqlite> = driver<typeof Sqlite>("better-sqlite3", "a SQLite database");

/** Is an error the driver's own, which has SQLite's code? */
export const isSqliteError = (error: unknown): error is InstanceType<typeof Sqlite.SqliteError> =>
  sqlite.loaded !== undefined && error instanceof sqlite.loaded.SqliteError;
