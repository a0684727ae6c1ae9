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
import { arrival, newEvent, SELLER } from "./cases/events.js";
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
  url = await postgres.empty();
  const stores = await Promise.all(Array.from({ length: 4 }, () => openPostgresStore({ url, connections: 2 })));
  const rows = await sql<{ n: number }>`select count(*)::int as n from adbind_migrations`.rows(stores[0]!.database);
  assert.is(rows[0]!.n, schemaSteps.length);
  await Promise.all(stores.map((store) => store.close()));
});

test("who waited while another instance made the schema sees it, and makes nothing", async () => {
  const fresh = await postgres.empty();
  const other = new pg.Client(fresh);
  await other.connect();
  // Of this database: others' sessions wait for locks of theirs on the same server.
  const waiting =
    "select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted " +
    "and database = (select oid from pg_database where datname = current_database())";
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
      await openPostgresStore({ url: address });
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

test("the events of one task are found by index, however many there are", async () => {
  const store = await openPostgresStore({ url: await postgres.database(), connections: 1 });
  const { pool } = store;
  const sent = newEvent({ taskId: "task-of-interest" });
  await store.inbox.accept(arrival(sent));
  const [first] = await store.inbox.list({ sender: SELLER, taskId: "task-of-interest" });
  assert.is(first?.key, sent.key);
  const columns = (
    await pool.query<{ name: string }>(
      "select column_name as name from information_schema.columns where table_name = 'adbind_inbox' and column_name not in ('id', 'key', 'task_id')",
    )
  ).rows.map(({ name }) => name);
  await pool.query(
    `insert into adbind_inbox (key, task_id, ${columns}) select 'k' || n, 'task-' || n, ${columns} from adbind_inbox, generate_series(1, 20000) n`,
  );
  await pool.query("analyze adbind_inbox");
  const scans = async (): Promise<{ whole: number; found: number }> => {
    await pool.query("select pg_stat_force_next_flush(), pg_stat_clear_snapshot()");
    const [row] = (
      await pool.query<{ whole: string; found: string }>(
        "select seq_scan as whole, (select idx_scan from pg_stat_user_indexes where indexrelname = 'adbind_inbox_task') as found " +
          "from pg_stat_user_tables where relname = 'adbind_inbox'",
      )
    ).rows;
    return { whole: Number(row?.whole), found: Number(row?.found) };
  };
  const before = await scans();
  const found = await store.inbox.list({ sender: SELLER, taskId: "task-of-interest", limit: 50 });
  assert.equal(
    found.map(({ key }) => key),
    [sent.key],
  );
  await until(async () => (await scans()).found > before.found);
  assert.is((await scans()).whole, before.whole, "the table was read whole");
  await store.close();
});

test.after(async () => {
  await pooler?.stop();
  await postgres.stop();
});
test.run();
