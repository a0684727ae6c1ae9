/** The shared store: many instances on one PostgreSQL. */
import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { AdbindError } from "../../errors.js";
import { sweepEach } from "../expiry.js";
import { PARKED } from "../rows.js";
import type { Expiring, Store } from "../types.js";
import { expireClaims, liveClaims } from "./claims.js";
import { PostgresClient } from "./client.js";
import { buryParked, postgresInbox } from "./inbox.js";
import { migratePostgres } from "./migrate.js";
import { postgresNonces } from "./nonces.js";
import { postgresRegistrations } from "./registrations.js";
import { postgresSenders } from "./senders.js";
import type { Db, Tables, Tx } from "./tables.js";
import { taskState } from "./tasks.js";

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Most connections of this instance. Default 10. */
  readonly connections?: number;
  /** Longest wait for a connection, in milliseconds; then the receiver answers 503. Default 5,000. */
  readonly connectTimeoutMs?: number;
}

/** `db` is open to an application that keeps its tables beside ours, for effects to write to. */
export interface PostgresStore extends Store<Tx> {
  readonly kind: "postgres";
  readonly db: Db;
  /** What `db` takes its connections from; a queue listens on one made alike. */
  readonly pool: pg.Pool;
}

const CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 5_000;
/** PostgreSQL's 64-bit integer. */
const INT8_OID = 20;

/**
 * Opens a PostgreSQL store and brings its schema to this version; instances that start together take turns.
 * @throws AdbindError `store_option_invalid` when the database cannot be reached, `store_schema` when it is not usable
 */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const where = options.url.split("@").at(-1) ?? "";
  const pool = new pg.Pool({
    Client: PostgresClient,
    connectionString: options.url,
    max: options.connections ?? CONNECTIONS,
    connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    types: {
      // Our 64-bit columns are milliseconds, counts and ids: a number carries them exactly.
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format as "text"),
    },
  });
  // An idle connection that breaks is replaced at the next query; without a listener it would end the process.
  pool.on("error", () => undefined);
  // So would one that breaks between two statements of a transaction; the next statement reports it.
  pool.on("connect", (client) => client.on("error", () => undefined));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await migratePostgres(db, where);
  } catch (error) {
    await db.destroy();
    if (error instanceof AdbindError) throw error;
    throw new AdbindError("store_option_invalid", "the database cannot be opened", { where, cause: error });
  }
  return postgresStore(db, pool);
}

function postgresStore(db: Db, pool: pg.Pool): PostgresStore {
  const senders = postgresSenders(db);
  const nonces = postgresNonces(db);
  const withSender = async <T>(url: string, unknown: T, then: (id: number) => Promise<T>): Promise<T> => {
    const id = await senders.find(url);
    return id === undefined ? unknown : then(id);
  };
  const expiring: readonly Expiring[] = [
    { what: PARKED, lost: true, remove: (now, limit) => buryParked(db, now, limit) },
    { what: "expired claims", remove: (now, limit) => expireClaims(db, now, limit) },
    { what: "expired nonces", remove: (now, limit) => nonces.expire(now, limit) },
    ...expiringTables.map((table) => ({
      what: `expired ${table.replace("adbind_", "")}`,
      remove: (now: number, limit: number) => expireRows(db, table, now, limit),
    })),
  ];
  return {
    kind: "postgres",
    db,
    pool,
    inbox: postgresInbox(db, senders, nonces),
    registrations: postgresRegistrations(db),
    task: (url, taskId) => withSender(url, undefined, (sender) => taskState(db, { sender, taskId })),
    claims: (url) => withSender(url, 0, (sender) => liveClaims(db, sender)),
    replay: (options = {}) => nonces.replay(options),
    expiring,
    sweep: (now, limit) => sweepEach(expiring, now, limit),
    close: () => db.destroy(),
  };
}

/** Tables whose rows expire and are counted nowhere else. */
const expiringTables = ["adbind_tasks", "adbind_notifications", "adbind_registrations"] as const;

async function expireRows(db: Db, table: (typeof expiringTables)[number], now: number, limit: number): Promise<number> {
  const name = sql.table(table);
  const { numAffectedRows } = await sql`delete from ${name} where ctid = any(array(
    select ctid from ${name} where expires <= ${now} order by expires limit ${limit} for update skip locked
  ))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
