/** The embedded engine: one file, one writer, every commit synced. */
import { closeSync, existsSync, openSync } from "node:fs";
import type Sqlite from "better-sqlite3";
import { AdbindError } from "../../errors.js";
import { missingStore } from "../access.js";
import { type Coroutine, inJoined, runSync } from "../coroutine.js";
import { assertComplete, type DatabaseSchema, missingSteps, refuseMissing, statusOf } from "../schema.js";
import type { Database, DatabaseOptions } from "../types.js";
import { copyTo } from "./copy.js";
import { isSqliteError, sqlite } from "./driver.js";
import { explained, unreachable } from "./faults.js";
import { joined } from "./join.js";
import { appliedSteps, isStore, migrate } from "./migrate.js";
import { dialect, LocalNotifications, SqliteQuery } from "./query.js";
import { schema as ours } from "./schema/index.js";
import { soleOn } from "./sole.js";
import { BUSY_TIMEOUT_MS, SYNCED, Writer } from "./writer.js";

/** Where the file is. `busyTimeoutMs`: how long another writer is waited for. */
export interface SqliteOptions extends DatabaseOptions {
  /** The database file; made when missing, readable by its owner only. Its folder must exist and be on a local disk. */
  readonly path: string;
  /** Page cache in KiB. Default 65,536. */
  readonly cacheKib?: number;
  /** How long to wait for another process's write, in milliseconds. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Another schema than adbind's own, for tests. */
  readonly schema?: DatabaseSchema;
}

/** `file` is open to an application that keeps its tables beside ours. */
export interface SqliteDatabase extends Database<Sqlite.Database> {
  readonly engine: "sqlite";
  readonly file: Sqlite.Database;
  /** Gathers writes into transactions; for what runs as prepared statements of its own. */
  readonly writer: Writer;
  /** Runs what reads the file; an error that is the disk's or the file's is told with its cause and remedy. */
  told<T>(work: () => T): T;
}

const CACHE_KIB = 65_536;
/** Pages in the log before they are folded into the file: 8 MiB. That stands in the way of whatever waits then; 64 MiB took 40 to 120 ms. */
const CHECKPOINT_PAGES = 2_048;
/** A database holds secrets and personal data: nobody else's to read. The log beside it gets the same mode. */
const FILE_MODE = 0o600;

/**
 * Opens or makes a SQLite file and brings it to this version's schema.
 * @throws AdbindError `database_unreachable` when the file cannot be opened, `store_schema` when it is not usable,
 * `store_option_invalid` for a path that names no file
 */
export function openSqlite(options: SqliteOptions): SqliteDatabase {
  const { path, busyTimeoutMs = BUSY_TIMEOUT_MS, schema = ours } = options;
  const file = openFile(options);
  try {
    bringUp(file, schema, options);
  } catch (error) {
    file.close();
    throw isSqliteError(error) ? unreachable(path, error) : error;
  }
  const notifications = new LocalNotifications();
  const query = new SqliteQuery(file, notifications);
  const others = new WeakMap<Sqlite.Database, SqliteQuery>();
  const writer = new Writer(file, busyTimeoutMs);
  const begin = file.prepare("begin");
  const commit = file.prepare("commit");
  const statements = (tx: Sqlite.Database): SqliteQuery => {
    if (tx === file) return query;
    const known = others.get(tx) ?? new SqliteQuery(tx, notifications);
    others.set(tx, known);
    return known;
  };
  const told = teller(path);
  return {
    engine: "sqlite",
    where: path,
    dialect,
    shared: false,
    file,
    writer,
    told,
    async read(work) {
      begin.run();
      try {
        return told(() => run(work(query)));
      } finally {
        commit.run();
      }
    },
    query: async (work) => told(() => run(work(query))),
    execute: (text, values) => writer.guarded(() => run(query.rows(text, values))),
    write: (work) => writer.guarded(() => run(work(query, file))),
    within: (tx, work) => run(inJoined(joined(tx, statements, { own: file, anywhere: false }), work)),
    statements,
    join: (tx, anywhere = false) => joined(tx, statements, { own: file, anywhere }),
    onNotify: (channel, listener) => notifications.on(channel, listener),
    migrate: async () => migrate(file, schema, path),
    // Nothing of this engine is partitioned: rows are removed a few at a time.
    partitions: async () => ({ made: [], dropped: [], left: [] }),
    status: async () => statusOf(schema, appliedSteps(file), path),
    copy: async (to) => copyTo(file, to),
    sole: (what, waits) => soleOn({ path, waitMs: busyTimeoutMs }, what, waits),
    async close() {
      if (!file.open) return;
      notifications.clear();
      writer.flush();
      file.close();
    },
  };
}

/** Tells what a file meets while it is read. */
const teller =
  (path: string) =>
  <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw explained(error, path);
    }
  };

function bringUp(
  file: Sqlite.Database,
  schema: DatabaseSchema,
  { path, access = "create", migrate: may }: SqliteOptions,
): void {
  if (may === "skip") return;
  if (access !== "create" && !isStore(file)) throw missingStore("the database file is no store of adbind", path);
  const missing = (): DatabaseSchema => missingSteps(schema, appliedSteps(file), path);
  if (access === "read") assertComplete(missing(), path);
  else if (may === false) refuseMissing(missing(), "sqlite", path);
  else migrate(file, schema, path);
}

/** A synchronous transaction cannot wait; a promise would run on after it has been committed. */
const refusal = (): AdbindError =>
  new AdbindError("store_effect", "the work met a promise, and SQLite's transaction cannot wait", {
    remedy: "await what it needs before, then do synchronous work",
  });

const run = <T>(work: Coroutine<T>): T => runSync(work, refusal);

/** Made here for its mode, and because the system says why it cannot be made; SQLite does not. */
const makeFile = (path: string): void => closeSync(openSync(path, "a", FILE_MODE));

/** Settings of a connection; one that only reads leaves those of the file alone. */
function configure(file: Sqlite.Database, { access = "create", cacheKib = CACHE_KIB }: SqliteOptions): void {
  file.pragma(`cache_size = -${cacheKib}`);
  // The first look at the file: it may be none of SQLite's, and nothing is to be written to it before.
  file.pragma("schema_version");
  if (access === "read") {
    file.pragma("query_only = on");
    return;
  }
  if (access === "create") file.pragma("journal_mode = WAL");
  file.pragma(`synchronous = ${SYNCED}`);
  file.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
}

function openFile(options: SqliteOptions): Sqlite.Database {
  const { path, access = "create", busyTimeoutMs = BUSY_TIMEOUT_MS, migrate: make = true } = options;
  if (path === "" || path === ":memory:") {
    throw new AdbindError("store_option_invalid", "the store needs a file: state must survive a restart", {
      where: `path ${JSON.stringify(path)}`,
      remedy: "give a path on a local disk",
    });
  }
  const Driver = sqlite.load();
  const makes = access === "create" && make === true;
  if (!makes && !existsSync(path)) throw missingStore("there is no database file", path);
  let file: Sqlite.Database | undefined;
  try {
    if (makes) makeFile(path);
    file = new Driver(path, { timeout: busyTimeoutMs, fileMustExist: true });
    configure(file, options);
    return file;
  } catch (error) {
    file?.close();
    throw unreachable(path, error);
  }
}
