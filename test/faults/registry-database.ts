/** A database for a faults run, looked at from beside its registry. */
import path from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { openPostgresStore, openSqliteStore, type PostgresStore, type SqliteStore } from "../../runtime/store/index.js";
import { sharedPostgres } from "../support/postgres.js";

export type Engine = "sqlite" | "postgres";

export interface FaultsDatabase {
  readonly url: string;
  query<Row>(text: string): Promise<Row[]>;
  /** A store of one's own on the same database; who opens it closes it. */
  open(): Promise<SqliteStore | PostgresStore>;
  /** A second, empty database of the kind. */
  fresh(): Promise<SqliteStore | PostgresStore>;
  close(): Promise<void>;
}

async function openSqlite(folder: string): Promise<FaultsDatabase> {
  const url = path.join(folder, "store.db");
  const open = async () => openSqliteStore({ path: url, busyTimeoutMs: 20_000 });
  await (await open()).close();
  const db = new Database(url, { timeout: 20_000 });
  return {
    url,
    query: async <Row>(text: string) => db.prepare(text).all() as Row[],
    open,
    fresh: async () => openSqliteStore({ path: path.join(folder, "fresh.db") }),
    close: async () => void db.close(),
  };
}

async function openPostgres(): Promise<FaultsDatabase> {
  const cluster = await sharedPostgres();
  const url = await cluster.database();
  const open = () => openPostgresStore({ url });
  await (await open()).close();
  const client = new pg.Client(url);
  await client.connect();
  return {
    url,
    query: async <Row>(text: string) => (await client.query(text)).rows as Row[],
    open,
    fresh: async () => openPostgresStore({ url: await cluster.database() }),
    async close() {
      await client.end();
      await cluster.stop();
    },
  };
}

export const openFaultsDatabase = (engine: Engine, folder: string): Promise<FaultsDatabase> =>
  engine === "sqlite" ? openSqlite(folder) : openPostgres();
