/** The embedded store: one file, one writer, every commit synced. */
import { closeSync, existsSync, openSync } from "node:fs";
import Database from "better-sqlite3";
import { AdbindError } from "../../errors.js";
import { type AccessOptions, missingStore, type StoreAccess } from "../access.js";
import { sweepEach } from "../expiry.js";
import { PARKED } from "../rows.js";
import type { Expiring, Store } from "../types.js";
import { sqliteClaims } from "./claims.js";
import { sqliteInbox } from "./inbox.js";
import { assertSqlite, migrateSqlite } from "./migrate.js";
import { sqliteNonces } from "./nonces.js";
import { sqliteNotifications } from "./notifications.js";
import { sqliteRegistrations } from "./registrations.js";
import { sqliteSenders } from "./senders.js";
import { sqliteTasks } from "./tasks.js";
import { Writer } from "./writer.js";

export interface SqliteOptions extends AccessOptions {
  /** The database file; made when missing, readable by its owner alone. Its folder must exist and be on a local disk. */
  readonly path: string;
  /** Page cache in KiB. Default 65,536. */
  readonly cacheKib?: number;
  /** How long to wait for another process's write, in milliseconds. Default 5,000. */
  readonly busyTimeoutMs?: number;
}

/** The file's own handle is open to an application that keeps its tables beside ours, for effects to write to. */
export interface SqliteStore extends Store<Database.Database> {
  readonly kind: "sqlite";
  readonly db: Database.Database;
}

const CACHE_KIB = 65_536;
const BUSY_TIMEOUT_MS = 5_000;
/** Pages in the log before they are folded into the file: 64 MiB, so that a page written often is written back once. */
const CHECKPOINT_PAGES = 16_384;

/**
 * Opens or makes a SQLite store and brings it to this version's schema.
 * @throws AdbindError `store_option_invalid` when the file cannot be opened, `store_schema` when it is not usable,
 * `store_missing` when it is not there and not to be made
 */
export function openSqliteStore(options: SqliteOptions): SqliteStore {
  const db = openFile(options);
  try {
    if (options.access === "read") assertSqlite(db, options.path);
    else migrateSqlite(db, options.path, options.access);
  } catch (error) {
    db.close();
    throw error;
  }
  const writer = new Writer(db);
  const parts = {
    db,
    writer,
    senders: sqliteSenders(writer),
    claims: sqliteClaims(writer),
    tasks: sqliteTasks(db),
    notifications: sqliteNotifications(db),
    registrations: sqliteRegistrations(db, writer),
    nonces: sqliteNonces(writer),
  };
  const inbox = sqliteInbox(parts);
  const { senders, claims, tasks, notifications, registrations, nonces } = parts;
  const expiring: readonly Expiring[] = [
    { what: PARKED, lost: true, remove: (now, limit) => writer.write(() => inbox.buryParked(now, limit)) },
    ...Object.entries({ claims, nonces, tasks, notifications, registrations }).map(([what, part]) => ({
      what: `expired ${what}`,
      remove: (now: number, limit: number) => writer.write(() => part.expire(now, limit)),
    })),
  ];
  return {
    kind: "sqlite",
    db,
    inbox,
    registrations,
    async task(sender, taskId) {
      const id = senders.find(sender);
      return id === undefined ? undefined : tasks.state(id, taskId);
    },
    async claims(sender) {
      const id = senders.find(sender);
      return id === undefined ? 0 : claims.live(id);
    },
    replay: (replayOptions = {}) => nonces.replay(replayOptions),
    expiring,
    sweep: (now, limit) => sweepEach(expiring, now, limit),
    async close() {
      writer.flush();
      db.close();
    },
  };
}

/** What webhooks carry, and secrets of senders, are the owner's business. SQLite gives its log the mode of the file. */
const PRIVATE_MODE = 0o600;

function makeFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", PRIVATE_MODE));
  } catch (error) {
    // What is there already keeps its mode: somebody may have meant it.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Settings of a connection; one that only reads leaves those of the file alone. */
function configure(db: Database.Database, access: StoreAccess, cacheKib: number): void {
  db.pragma(`cache_size = -${cacheKib}`);
  if (access === "read") {
    db.pragma("query_only = on");
    // The first look at the file: it may be none of SQLite's.
    db.pragma("schema_version");
    return;
  }
  // A file of ours has it already; any other is told by its tables, and nothing is to be written to it before.
  if (access === "create") db.pragma("journal_mode = WAL");
  else db.pragma("schema_version");
  db.pragma("synchronous = FULL");
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
}

function openFile({
  path,
  access = "create",
  cacheKib = CACHE_KIB,
  busyTimeoutMs = BUSY_TIMEOUT_MS,
}: SqliteOptions): Database.Database {
  if (path === "" || path === ":memory:") {
    throw new AdbindError("store_option_invalid", "the store needs a file: state must survive a restart", {
      where: `path ${JSON.stringify(path)}`,
      remedy: "give a path on a local disk",
    });
  }
  if (access !== "create" && !existsSync(path)) throw missingStore("there is no database file", path);
  let db: Database.Database | undefined;
  try {
    if (access === "create") makeFile(path);
    db = new Database(path, { timeout: busyTimeoutMs, fileMustExist: true });
    configure(db, access, cacheKib);
    return db;
  } catch (error) {
    db?.close();
    throw new AdbindError("store_option_invalid", "the database file cannot be opened", {
      where: path,
      remedy: "check the path, and the permissions of the file and its folder",
      cause: error,
    });
  }
}
