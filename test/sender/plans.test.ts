/** Functions that change tasks on PostgreSQL: what they read, however large the tables are, and how a database comes to them. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { sharedPostgres, type TestDatabases } from "../support/postgres.js";
import { until } from "../support/until.js";
import { FakeNetwork, NOW, optionsFor } from "./fixture.js";
import { drained, push, start } from "./sender-suite.js";

let postgres: TestDatabases;
test.before(async () => {
  postgres = await sharedPostgres();
});
test.after(() => postgres.stop());

/** Tables of the size at which reading them as a whole seems cheap to a planner that takes one task for a hundred. */
const FILL = `
  insert into adbind_sent_tasks (task_id, principal, tool, status, instant, details, expires)
    select 'old-' || n, 'p', 't', 'working', '', '{}', 9e15::bigint from generate_series(1, 10000) n;
  insert into adbind_dedup (task_id, dedup_key, digest, keys, expires)
    select 'old-' || n, 'key', '', '[]', 9e15::bigint from generate_series(1, 10000) n;
  analyze adbind_sent_tasks, adbind_dedup`;

const READ = `select relname as name, seq_scan::int as scans from pg_stat_xact_user_tables
  where relname in ('adbind_sent_tasks', 'adbind_dedup', 'adbind_jobs') order by relname`;

test("a change reads its own rows, not tables of ten thousand as a whole, known here or not", async () => {
  const url = await postgres.database();
  const database = await openPostgres({ url, connections: 2 });
  const clock = { at: NOW };
  const options = { ...optionsFor(clock, new FakeNetwork(clock)), store: { database } };
  const [knowing, unknowing] = [await createSender(options), await createSender(options)];
  const application = new pg.Client(url);
  await application.connect();
  try {
    await knowing.tasks.register(start({ taskId: "a" }), { push });
    await application.query(FILL);
    const untouched = ["adbind_dedup", "adbind_jobs", "adbind_sent_tasks"].map((name) => ({ name, scans: 0 }));
    // Often enough that a session has settled on its plans.
    for (const [turn, sender] of Array.from({ length: 16 }, (_, n) => [n, n % 2 ? unknowing : knowing] as const)) {
      await application.query("begin");
      const { keys } = await sender.tasks.update("a", { status: "working" }, { tx: application, dedupKey: `${turn}` });
      assert.is(keys.length, 1);
      assert.equal((await application.query(READ)).rows, untouched, `turn ${turn}`);
      await application.query("commit");
    }
  } finally {
    await application.end();
    for (const sender of [knowing, unknowing]) await sender.stop();
    await database.close();
  }
});

const CHANGED = `select n_tup_upd::int as changed, n_tup_hot_upd::int as alone from pg_stat_xact_user_tables
  where relname = 'adbind_sent_tasks'`;

test("tasks that were stored together change together without an entry in an index", async () => {
  const url = await postgres.database();
  const database = await openPostgres({ url, connections: 2 });
  const clock = { at: NOW };
  const sender = await createSender({ ...optionsFor(clock, new FakeNetwork(clock)), store: { database } });
  const application = new pg.Client(url);
  await application.connect();
  try {
    const ids = Array.from({ length: 200 }, (_, at) => `task-${at}`);
    await Promise.all(ids.map((taskId) => sender.tasks.register(start({ taskId }), { push })));
    await application.query("begin");
    const changes = ids.map((taskId) => ({ taskId, status: "working" as const }));
    await sender.tasks.updateAll(changes, { tx: application });
    assert.equal((await application.query(CHANGED)).rows, [{ changed: ids.length, alone: ids.length }]);
    await application.query("commit");
  } finally {
    await application.end();
    await sender.stop();
    await database.close();
  }
});

/** Functions are all that the step adds: without them and its row a database is as the step before left it. */
const UNDONE = `
  drop function adbind_change_tasks; drop function adbind_add_jobs; drop function adbind_lease_jobs;
  drop function adbind_ack_jobs;
  delete from adbind_migrations where name = 'functions'`;

test("a database of before the functions, with tasks and events in it, is brought to them and goes on", async () => {
  const url = await postgres.database();
  const clock = { at: NOW };
  const network = new FakeNetwork(clock);
  const open = async (migrate: boolean) => {
    const database = await openPostgres({ url, connections: 2, migrate });
    return { database, sender: await createSender({ ...optionsFor(clock, network), store: { database } }) };
  };
  const before = await open(true);
  await before.sender.tasks.register(start({ taskId: "a" }), { push });
  await before.sender.tasks.update("a", { status: "working" });
  await before.sender.stop();
  await before.database.execute(UNDONE);
  await before.database.close();
  const refused = await open(false).catch((error: Error) => error.message);
  assert.match(String(refused), /17 functions/);
  const after = await open(true);
  await after.sender.tasks.update("a", { status: "canceled" });
  after.sender.start();
  await until(() => drained(after.sender));
  await after.sender.stop();
  await after.database.close();
  assert.equal(
    network.sent.map(({ body }) => body.status),
    ["working", "canceled"],
  );
});

test.run();
