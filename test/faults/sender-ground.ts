/** What a run with killed senders, or buyers, stands on: a database, and what hands events out. */
import path from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { openDatabase } from "../../runtime/db/open.js";
import { openPostgresStore, openSqliteStore } from "../../runtime/store/index.js";
import { splitChange } from "../../runtime/store/split/change.js";
import { named, postgresGround, sqliteGround } from "../split/databases.js";
import { startNats, type TestNats } from "../support/nats.js";
import { startPgbouncer } from "../support/pgbouncer.js";
import { sharedPostgres, startPostgres } from "../support/postgres.js";

/** What decides what a run stands on. */
export interface BooksOptions {
  readonly engine: "sqlite" | "postgres";
  /** What hands events out, where it is not the database: three servers, killed too. */
  readonly queue?: "nats" | undefined;
  /** Through a PgBouncer that pools by transaction. */
  readonly pooler?: boolean;
  /** Times that PostgreSQL is restarted under load. */
  readonly restarts?: number;
  /**
   * Databases that the senders' state is split over by principal; one more is added and removed meanwhile, by a command that is
   * killed too.
   */
  readonly split?: number | undefined;
}

export interface FaultsOptions extends BooksOptions {
  readonly kills: number;
  /** Senders alive at a time. */
  readonly senders: number;
  /** Tasks each sender makes before it only delivers. */
  readonly tasks: number;
  /** Events there must be before the first kill: a slow machine would otherwise be judged by next to none. */
  readonly eventsFirst: number;
  /** Longest wait for what is left after the kills, in milliseconds. */
  readonly drainMs: number;
}

/** The books of the run. */
export interface Books {
  readonly url: string;
  /** Of a split: all of its databases, the one that comes and goes being the last. */
  readonly urls?: readonly string[];
  restart(): Promise<void>;
  query<Row>(text: string): Promise<Row[]>;
  /** Servers that hand events out, where the database does not. */
  readonly nats?: TestNats | undefined;
  close(): Promise<void>;
}

const SETUP = ["create table app_events (key text, task text, n text)"] as const;

async function openSqlite(folder: string, setup: readonly string[]): Promise<Books> {
  const url = path.join(folder, "store.db");
  await openSqliteStore({ path: url }).close();
  const db = new Database(url, { timeout: 20_000 });
  for (const text of setup) db.exec(text);
  return {
    url,
    restart: async () => undefined,
    query: async <Row>(text: string) => db.prepare(text).all() as Row[],
    close: async () => void db.close(),
  };
}

/** A server of the run's own where it is restarted or has a pooler in front. */
async function openPostgres(
  { pooler: pooled, restarts = 0, queue }: BooksOptions,
  setup: readonly string[],
): Promise<Books> {
  const own = pooled || restarts > 0 ? await startPostgres({ max_connections: "200" }) : undefined;
  const cluster = own ?? (await sharedPostgres());
  const url = await cluster.database();
  await (await openPostgresStore({ url })).close();
  const pooler = pooled ? await startPgbouncer(url, { default_pool_size: "20" }) : undefined;
  const nats = queue === "nats" ? await startNats() : undefined;
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  for (const text of setup) await pool.query(text);
  return {
    url: pooler?.through(url) ?? url,
    nats,
    restart: async () => own?.restart(),
    query: async <Row>(text: string) => (await pool.query(text)).rows as Row[],
    async close() {
      await pool.end();
      await pooler?.stop();
      await nats?.stop();
      await cluster.stop();
    },
  };
}

/** Databases of a split, with the table of what was made in each. */
async function openSplit({ engine, split = 0 }: BooksOptions, setup: readonly string[]): Promise<Books> {
  const ground = engine === "sqlite" ? sqliteGround() : await postgresGround();
  const urls = await ground.fresh(split + 1);
  const open = await Promise.all(urls.map((url) => openDatabase(url)));
  for (const database of open) for (const text of setup) await database.execute(text);
  const first = splitChange({ kind: "principal", databases: named(urls.slice(0, split)) });
  await first.init();
  await first.close();
  return {
    url: urls[0]!,
    urls,
    restart: async () => undefined,
    async query<Row>(text: string) {
      const rows: Row[] = [];
      for (const database of open) rows.push(...(await database.query((q) => q.rows<Row>(text))));
      return rows;
    },
    async close() {
      for (const database of open) await database.close();
      await ground.close();
    },
  };
}

/**
 * Opens them, empty.
 * @param folder where a file may stand
 * @param setup statements that make the application's tables
 */
export const openBooks = (options: BooksOptions, folder: string, setup: readonly string[] = SETUP): Promise<Books> => {
  if (options.split !== undefined) return openSplit(options, setup);
  return options.engine === "sqlite" ? openSqlite(folder, setup) : openPostgres(options, setup);
};
