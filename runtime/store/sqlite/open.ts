/** The embedded store: one file, one writer, every commit synced. */
import Database from "better-sqlite3";
import { AdbindError } from "../../errors.js";
import { sweepEach } from "../expiry.js";
import { PARKED } from "../rows.js";
import type { Expiring, Store } from "../types.js";
import { sqliteClaims } from "./claims.js";
import { sqliteInbox } from "./inbox.js";
import { migrateSqlite } from "./migrate.js";
import { sqliteNonces } from "./nonces.js";
import { sqliteNotifications } from "./notifications.js";
import { sqliteRegistrations } from "./registrations.js";
import { sqliteSenders } from "./senders.js";
import { sqliteTasks } from "./tasks.js";
import { Writer } from "./writer.js";

export interface SqliteOptions {
  /** The database file; made when missing. Its folder must exist and be on a local disk. */
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
 * @throws AdbindError `store_option_invalid` when the file cannot be opened, `store_schema` when it is not usable
 */
export function openSqliteStore(options: SqliteOptions): SqliteStore {
  const db = openFile(options);
  migrateSqlite(db, options.path);
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

function openFile({ path, cacheKib = CACHE_KIB, busyTimeoutMs = BUSY_TIMEOUT_MS }: SqliteOptions): Database.Database {
  if (path === "" || path === ":memory:") {
    throw new AdbindError("store_option_invalid", "the store needs a file: state must survive a restart", {
      where: `path ${JSON.stringify(path)}`,
      remedy: "give a path on a local disk",
    });
  }
  try {
    const db = new Database(path, { timeout: busyTimeoutMs });
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.pragma(`cache_size = -${cacheKib}`);
    db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    return db;
  } catch (error) {
    throw new AdbindError("store_option_invalid", "the database file cannot be opened", { where: path, cause: error });
  }
}
