/** The driver of SQLite. */
import type Sqlite from "better-sqlite3";
import { driver } from "../driver.js";

export const sqlite = driver<typeof Sqlite>("better-sqlite3", "a SQLite database");

/** Is an error the driver's own, which has SQLite's code? */
export const isSqliteError = (error: unknown): error is InstanceType<typeof Sqlite.SqliteError> =>
  sqlite.loaded !== undefined && error instanceof sqlite.loaded.SqliteError;
