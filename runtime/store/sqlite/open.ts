/** The embedded store: one file, one writer, every commit synced. */
import type { Database } from "better-sqlite3";
import { openSqlite, type SqliteDatabase, type SqliteOptions } from "../../db/sqlite/open.js";
import { sweepEach } from "../expiry.js";
import type { KeyspaceGuard } from "../guard.js";
import { PARKED } from "../rows.js";
import type { Expiring, Store } from "../types.js";
import { sqliteClaims } from "./claims.js";
import { sqliteExpiryTime } from "./clock.js";
import { guarded } from "./guarded.js";
import { sqliteInbox } from "./inbox.js";
import { sqliteNonces } from "./nonces.js";
import { sqliteNotifications } from "./notifications.js";
import { sqliteRegistrations } from "./registrations.js";
import { sqliteSenders } from "./senders.js";
import { sqliteTasks } from "./tasks.js";

/** What effects get is the file's own handle, within the transaction. */
export interface SqliteStore extends Store<Database> {
  readonly database: SqliteDatabase;
  /** Open to an application that keeps its tables beside ours. */
  readonly db: Database;
}

/**
 * Opens or makes a SQLite store and brings it to this version's schema.
 * @throws AdbindError `database_unreachable` when the file cannot be opened, `store_schema` when it is not usable
 */
export const openSqliteStore = (options: SqliteOptions): SqliteStore => sqliteStore(openSqlite(options));

/**
 * A store on a file that is open already; closing it closes that.
 * @param keyspaces asked in each transaction that writes, where the file is one of several
 */
export function sqliteStore(database: SqliteDatabase, keyspaces?: KeyspaceGuard): SqliteStore {
  const { file: db, writer, told } = database;
  const time = sqliteExpiryTime(db);
  const guard = guarded(database, keyspaces);
  const dependencies = {
    db,
    writer,
    told,
    senders: sqliteSenders(writer),
    claims: sqliteClaims(writer, time),
    tasks: sqliteTasks(db),
    notifications: sqliteNotifications(db),
    registrations: sqliteRegistrations(database, guard),
    nonces: sqliteNonces(writer, time, guard),
    guard,
  };
  const inbox = sqliteInbox(dependencies);
  const { senders, claims, tasks, notifications, registrations, nonces } = dependencies;
  const expiring: readonly Expiring[] = [
    { what: PARKED, lost: true, remove: (now, limit) => writer.write(() => inbox.deadLetterParked(time(now), limit)) },
    ...Object.entries({ claims, nonces, tasks, task_operations: tasks.further, notifications, registrations }).map(
      ([what, part]) => ({
        what: `expired ${what}`,
        remove: (now: number, limit: number) => writer.write(() => part.expire(time(now), limit)),
      }),
    ),
  ];
  return {
    database,
    db,
    inbox,
    registrations,
    async task(sender, taskId, operationId) {
      return told(() => {
        const id = senders.find(sender);
        return id === undefined ? undefined : tasks.state(id, taskId, operationId);
      });
    },
    async claims(sender) {
      return told(() => {
        const id = senders.find(sender);
        return id === undefined ? 0 : claims.live(id);
      });
    },
    replay: (replayOptions = {}) => nonces.replay(replayOptions),
    expiring,
    sweep: (now, limit) => sweepEach(expiring, now, limit),
    close: () => database.close(),
  };
}
