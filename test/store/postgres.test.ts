import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { printSchema } from "../../runtime/db/open.js";
import { sql } from "../../runtime/db/postgres/sql.js";
import { schemaSteps } from "../../runtime/db/schema.js";
import { AdbindError } from "../../runtime/errors.js";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/postgres/open.js";
import type { Tx } from "../../runtime/store/postgres/tables.js";
import { hasPgbouncer, startPgbouncer } from "../support/pgbouncer.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { type StoreCase, storeCase } from "./store.case.js";

const postgres = await sharedPostgres();
// Before any suite runs: one that is given in a later turn of the event loop runs beside those that are under way.
const pooler = hasPgbouncer() ? await startPgbouncer(await postgres.database()) : undefined;
let url = "";

const caseOf = (name: string, urlOf: () => string): StoreCase<Tx> => ({
  name,
  open: async () => openPostgresStore({ url: urlOf(), connections: 6 }),
  reset: async () => {
    url = await postgres.database();
  },
  record: (value) => async (tx) => {
    await sql`create table if not exists effects (id serial, value text)`.run(tx);
    await sql`insert into effects (value) values (${value})`.run(tx);
  },
  recorded: async (store) => {
    const { pool } = store as PostgresStore;
    return (await pool.query<{ value: string }>("select value from effects order by id")).rows.map((row) => row.value);
  },
});

storeCase(caseOf("postgres", () => url));

if (pooler === undefined)
  console.log("skipped behind a pooler: pgbouncer is not installed (apt-get install pgbouncer)");
else storeCase(caseOf("postgres behind a pooler", () => pooler.through(url)));

test("instances that start together migrate once", async () => {
  url = await postgres.database();
  const stores = await Promise.all(Array.from({ length: 4 }, () => openPostgresStore({ url, connections: 2 })));
  const rows = await sql<{ n: number }>`select count(*)::int as n from adbind_migrations`.rows(stores[0]!.database);
  assert.is(rows[0]!.n, schemaSteps.length);
  await Promise.all(stores.map((store) => store.close()));
});

test("who waited while another instance made the schema sees it, and makes nothing", async () => {
  const fresh = await postgres.database();
  const other = new pg.Client(fresh);
  await other.connect();
  const waiting = "select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted";
  try {
    await other.query("begin; select pg_advisory_xact_lock(4221093117)");
    const opened = openPostgresStore({ url: fresh, connections: 1 });
    await until(async () => (await other.query<{ n: number }>(waiting)).rows[0]!.n === 1);
    // The notes of the steps alone: what is large wakes other sessions, and they look again for another reason.
    for (const note of printSchema("postgres").match(
      /^create table if not exists adbind_migrations \([^;]*;|^insert into adbind_migrations .*;$/gm,
    )!)
      await other.query(note);
    await other.query("commit");
    await (await opened).close();
  } finally {
    await other.end();
  }
});

test("a newer database is refused, and an unreachable one says where without its password", async () => {
  const store = await openPostgresStore({ url, connections: 1 });
  await sql`insert into adbind_migrations (version, name, checksum, compatible_from) values (999, 'x', 'y', 999)`.run(
    store.database,
  );
  await store.close();
  const codeOf = async (address: string): Promise<string> => {
    try {
      await openPostgresStore({ url: address, connectTimeoutMs: 2000 });
      return "opened";
    } catch (error) {
      assert.instance(error, AdbindError);
      assert.not.match((error as Error).message, "hunter2");
      return (error as AdbindError).code;
    }
  };
  assert.is(await codeOf(url), "store_schema");
  assert.is(await codeOf("postgres://u:hunter2@127.0.0.1:1/none"), "database_unreachable");
});

test.after(async () => {
  await pooler?.stop();
  await postgres.stop();
});
test.run();
