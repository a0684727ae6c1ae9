/** Transactions as applications have them: each library's own pool, its own table, and what is mistaken for a transaction. */

import { sql as drizzleSql } from "drizzle-orm";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import { drizzle as drizzleJs } from "drizzle-orm/postgres-js";
import knexOf from "knex";
import { CamelCasePlugin, Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import postgres from "postgres";
import "reflect-metadata";
import { PrismaPg } from "@prisma/adapter-pg";
import { DataSource } from "typeorm";
import { PrismaClient } from "../../../docs/examples/outbox/prisma/client/client.js";
import type { Library } from "../outbox-library.js";

const INSERT = "insert into application values ($1)";

/**
 * `end` is through when it has said goodbye, not when the connections are gone: a server that stops meanwhile tells
 * them so, and an error nobody listens to ends the process.
 */
function poolOf(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 3 });
  return pool.on("error", () => undefined);
}

async function released(pool: pg.Pool): Promise<pg.PoolClient> {
  const client = await pool.connect();
  await client.query("begin");
  await client.query("commit");
  client.release();
  return client;
}

function ofPg(url: string): Library {
  const pool = poolOf(url);
  return {
    name: "pg",
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query("begin");
        await work(client);
        await client.query("commit");
      } catch (error) {
        await client.query("rollback");
        throw error;
      } finally {
        client.release();
      }
    },
    write: (tx: pg.PoolClient, value) => tx.query(INSERT, [value]),
    async mistakes() {
      const failed = await pool.connect();
      await failed.query("begin");
      await failed.query("select 1/0").catch(() => undefined);
      const client = await released(pool);
      failed.release(true);
      return [
        ["a pool", pool],
        ["a released client", client],
        ["a client whose transaction has failed", failed],
        ["nothing that runs statements", {}],
      ];
    },
    close: () => pool.end(),
  };
}

function ofPostgresJs(url: string): Library {
  const client = postgres(url, { max: 3, prepare: false, onnotice: () => undefined });
  return {
    name: "postgres.js",
    transaction: async (work) => void (await client.begin((tx) => work(tx as never))),
    write: (tx: postgres.TransactionSql, value) => tx`insert into application values (${value})`,
    mistakes: async () => [["the client itself", client as never]],
    close: () => client.end(),
  };
}

function ofKysely(url: string): Library {
  const pool = poolOf(url);
  const db = new Kysely<never>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] });
  return {
    name: "kysely",
    transaction: (work) => db.transaction().execute(work),
    write: (tx: Kysely<never>, value) => sql`insert into application values (${value})`.execute(tx),
    mistakes: async () => [["a kysely without transaction", db]],
    close: () => db.destroy(),
  };
}

function ofDrizzle(url: string, driver: "node-postgres" | "postgres-js"): Library {
  const pool = poolOf(url);
  const client = postgres(url, { max: 3, onnotice: () => undefined });
  const db = driver === "node-postgres" ? drizzlePg(pool) : (drizzleJs(client) as never);
  return {
    name: `drizzle on ${driver}`,
    transaction: (work) => (db as ReturnType<typeof drizzlePg>).transaction(work as never),
    write: (tx: ReturnType<typeof drizzlePg>, value) =>
      tx.execute(drizzleSql`insert into application values (${value})`),
    mistakes: async () => [["the database itself", db]],
    close: () => Promise.all([pool.end(), client.end()]),
  };
}

function ofPrisma(url: string): Library {
  const db = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
  return {
    name: "prisma",
    transaction: (work) => db.$transaction((tx) => work(tx)),
    write: (tx: PrismaClient, value) => tx.$executeRawUnsafe(INSERT, value),
    mistakes: async () => [["the client itself", db]],
    close: () => db.$disconnect(),
  };
}

function ofKnex(url: string): Library {
  const db = knexOf({ client: "pg", connection: url, pool: { min: 0, max: 3 } });
  return {
    name: "knex",
    transaction: (work) => db.transaction((tx) => work(tx)),
    write: async (tx: ReturnType<typeof knexOf>, value) => tx("application").insert({ value }),
    async mistakes() {
      const over = await db.transaction();
      await over.commit();
      return [
        ["the instance itself", db],
        ["a transaction that has ended", over],
      ];
    },
    close: () => db.destroy(),
  };
}

async function ofTypeorm(url: string): Promise<Library[]> {
  const source = await new DataSource({ type: "postgres", url, poolSize: 3 }).initialize();
  const mistakes = async () =>
    [
      ["the data source", source],
      ["its manager", source.manager],
    ] as const;
  return [
    {
      name: "TypeORM's entity manager",
      transaction: (work) => source.transaction((manager) => work(manager)),
      write: (tx: { query: (text: string, values: unknown[]) => Promise<unknown> }, value) => tx.query(INSERT, [value]),
      mistakes,
      close: async () => undefined,
    },
    {
      name: "TypeORM's query runner",
      async transaction(work) {
        const runner = source.createQueryRunner();
        try {
          await runner.startTransaction();
          await work(runner);
          await runner.commitTransaction();
        } catch (error) {
          await runner.rollbackTransaction();
          throw error;
        } finally {
          await runner.release();
        }
      },
      write: (tx: { query: (text: string, values: unknown[]) => Promise<unknown> }, value) => tx.query(INSERT, [value]),
      mistakes: async () => [["a runner that has begun nothing", source.createQueryRunner()]],
      close: () => source.destroy(),
    },
  ];
}

/** Anything that runs a statement, as the port is described: 64-bit integers come as BigInt. */
function ofQuery(url: string): Library {
  const own = ofPg(url);
  const bigints = { getTypeParser: (oid: number) => (oid === 20 ? BigInt : (text: string) => text) };
  const portOf = (tx: pg.PoolClient) => ({
    query: async (text: string, values: unknown[]) => tx.query({ text, values, types: bigints as never }),
  });
  const unbegun = new pg.Client(url);
  return {
    ...own,
    name: "anything with query(text, values)",
    transaction: (work) => own.transaction((tx) => work(portOf(tx as never))),
    write: (tx: ReturnType<typeof portOf>, value) => tx.query(INSERT, [value]),
    async mistakes() {
      await unbegun.connect();
      return [["a connection that has begun nothing", portOf(unbegun as never)]];
    },
    close: async () => [await unbegun.end(), await own.close()],
  };
}

export const libraries = async (url: string): Promise<Library[]> => [
  ofPg(url),
  ofPostgresJs(url),
  ofKysely(url),
  ofDrizzle(url, "node-postgres"),
  ofDrizzle(url, "postgres-js"),
  ofPrisma(url),
  ofKnex(url),
  ...(await ofTypeorm(url)),
  ofQuery(url),
];
