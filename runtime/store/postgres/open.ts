/** The shared store: many instances on one PostgreSQL. */
import type pg from "pg";
import { clockOfOpened } from "../../db/database-time.js";
import { openPostgres, type PostgresDatabase, type PostgresOptions, type PostgresTx } from "../../db/postgres/open.js";
import { sweepEach } from "../expiry.js";
import type { KeyspaceGuard } from "../guard.js";
import { PARKED } from "../rows.js";
import type { Expiring, Store } from "../types.js";
import { expireClaims, liveClaims } from "./claims.js";
import { postgresExpiryTime } from "./clock.js";
import { guarded } from "./guarded.js";
import { deadLetterParked, postgresInbox } from "./inbox.js";
import { postgresNonces } from "./nonces.js";
import { postgresRegistrations } from "./registrations.js";
import { postgresSenders } from "./senders.js";
import { taskState } from "./tasks.js";

/** What effects get is a client of `pg` within the transaction: `await tx.query("insert ...", [...])`. */
export interface PostgresStore extends Store<PostgresTx> {
  readonly database: PostgresDatabase;
  /** Open to an application that keeps its tables beside ours. */
  readonly pool: pg.Pool;
}

/**
 * Opens a PostgreSQL store and brings its schema to this version; instances that start together take turns.
 * @throws AdbindError `database_unreachable` that says why, `store_schema` when the database is not usable
 */
export const openPostgresStore = async (options: PostgresOptions): Promise<PostgresStore> => {
  const database = await openPostgres(options);
  return postgresStore(database, { now: await clockOfOpened(database) });
};

/** What a store on a database is made with. */
export interface PostgresStoreOptions {
  /** Asked in each transaction that writes, where the database is one of several. */
  readonly keyspaces?: KeyspaceGuard | undefined;
  /** The clock of all that share it; each goes by its machine's where there is none. */
  readonly now?: (() => number) | undefined;
}

/** A store on a database that is open already; closing it closes that. */
export function postgresStore(db: PostgresDatabase, { keyspaces, now }: PostgresStoreOptions = {}): PostgresStore {
  const senders = postgresSenders(db);
  const time = postgresExpiryTime(db);
  const guard = guarded(db, keyspaces);
  const nonces = postgresNonces(db, time, guard);
  const withSender = async <T>(url: string, unknown: T, then: (id: number) => Promise<T>): Promise<T> => {
    const id = await senders.find(url);
    return id === undefined ? unknown : then(id);
  };
  const raw: readonly Expiring[] = [
    { what: PARKED, lost: true, remove: (now, limit) => deadLetterParked(db, now, limit) },
    { what: "expired claims", remove: (now, limit) => expireClaims(db, now, limit) },
    { what: "expired nonces", remove: (now, limit) => nonces.expire(now, limit) },
    ...expiringTables.map((table) => ({
      what: `expired ${table.replace("adbind_", "")}`,
      remove: (now: number, limit: number) => db.ask(expiry(table), [now, limit]).then(({ rowCount }) => rowCount ?? 0),
    })),
  ];
  const expiring = raw.map((one) => ({
    ...one,
    remove: async (now: number, limit: number) => one.remove(await time(now), limit),
  }));
  return {
    database: db,
    pool: db.pool,
    inbox: postgresInbox(db, { senders, nonces, time, guard }),
    registrations: postgresRegistrations(db, guard),
    task: (url, taskId, operationId) =>
      withSender(url, undefined, (sender) => taskState(db, { sender, taskId, operationId })),
    claims: (url) => withSender(url, 0, (sender) => liveClaims(db, sender)),
    replay: (options = {}) => nonces.replay(options),
    expiring,
    sweep: (at, limit) => sweepEach(expiring, at, limit),
    ...(now && { now }),
    close: () => db.close(),
  };
}

/** Tables whose rows expire and are counted nowhere else. */
const expiringTables = [
  "adbind_tasks",
  "adbind_task_operations",
  "adbind_notifications",
  "adbind_registrations",
] as const;

const expiry = (table: (typeof expiringTables)[number]): string =>
  `delete from ${table} where ctid = any(array(select ctid from ${table} where expires <= $1 order by expires limit $2 ` +
  "for update skip locked))";
