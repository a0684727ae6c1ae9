/** Replays on PostgreSQL of what goes in order: what they read, and who lets them go. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres, runAsync } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/open.js";
import { replayJob } from "../../runtime/queue/postgres/kept-jobs.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { job, put } from "./queue-suite.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

const all = { limit: 100, room: () => 100 };
const WAITING = 2_000;

const READ = `select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
  where relname = 'adbind_jobs'`;

test("a replay does not read the thousands that wait under its ordering key", async () => {
  const database = await openPostgres({ url: await postgres.database(), connections: 2 });
  const queue = openQueue(database, "test");
  for (let n = 0; n < WAITING; n += 500)
    await put(queue, ...Array.from({ length: 500 }, () => job({ orderingKey: "o" })));
  await database.query((q) => q.run("update adbind_jobs set due = 9007199254740991 where id > 1"));
  await database.query((q) => q.run("update adbind_jobs set state = 'expired' where id > ?", [WAITING - 10]));
  await database.query((q) => q.run("vacuum analyze adbind_jobs"));
  const read = await database.transaction(async (tx) => {
    const rows = async () => (await tx.query<{ rows: number }>(READ)).rows[0]!.rows;
    const before = await rows();
    assert.ok(await runAsync(replayJob(database.statements(tx), WAITING - 5, Date.now())));
    return (await rows()) - before;
  });
  assert.ok(read < 50, `it has read ${read} rows`);
  await queue.close();
  await database.close();
});

test("what is replayed while the one before it ends goes after that all the same", async () => {
  const url = await postgres.database();
  const database = await openPostgres({ url, connections: 4 });
  const queue = openQueue(database, "test");
  await put(queue, ...["a", "b"].map((key) => job({ key, orderingKey: "o" })));
  await database.query((q) => q.run("update adbind_jobs set state = 'expired' where key = 'b'"));
  const [first] = await queue.take({ now: Date.now(), ...all });
  const { id } = (await queue.list({ state: "expired" }))[0]!;
  const other = new pg.Client(url);
  await other.connect();
  await other.query("begin");
  await other.query("delete from adbind_jobs where id = $1", [first!.id]);
  await other.query("select adbind_let_next_go('test', '{o}', $1)", [Date.now()]);
  const replayed = queue.replay(id, Date.now());
  const waits = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  await until(async () => (await other.query(waits)).rows.length > 0, "it waits for the one that ends");
  await other.query("commit");
  assert.ok(await replayed);
  assert.equal(
    (await queue.take({ now: Date.now(), ...all })).map(({ key }) => key),
    ["b"],
  );
  await other.end();
  await queue.close();
  await database.close();
});

test("what a dead instance had under way waits behind one that was replayed, and is under way no more", async () => {
  const database = await openPostgres({ url: await postgres.database(), connections: 2 });
  const queue = openQueue(database, "test");
  await put(queue, ...["a", "b"].map((key) => job({ key, orderingKey: "o" })));
  const ids = (await queue.list()).map(({ id }) => id);
  await database.query((q) => q.run("update adbind_jobs set state = 'expired' where id = ?", [ids[0]!]));
  await queue.take({ now: Date.now(), ...all });
  assert.ok(await queue.replay(ids[0]!, Date.now()));
  await database.query((q) => q.run("update adbind_jobs set lease_until = 0 where lease_until is not null"));
  const taken = await queue.take({ now: Date.now(), ...all });
  assert.equal(
    taken.map(({ key }) => key),
    ["a"],
  );
  const [, waits] = await queue.list();
  assert.equal([waits!.key, waits!.startedAt], ["b", null]);
  await queue.close();
  await database.close();
});

test.run();
