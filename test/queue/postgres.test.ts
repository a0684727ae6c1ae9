import { spawn } from "node:child_process";
import path from "node:path";
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import type { ListedJob } from "../../runtime/queue/types.js";
import { fromSource } from "../runner/from-source.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { modelCase } from "./model.case.js";
import { jobNamesCase } from "./names.case.js";
import { queueCase } from "./queue.case.js";
import { queueBytesCase } from "./queue-bytes.case.js";
import { queueFaultsCase } from "./queue-faults.case.js";
import { job, put, type QueueCase } from "./queue-suite.js";
import { queueWorkerCase } from "./queue-worker.case.js";

const postgres = await sharedPostgres();
let url = "";
const open = (): Promise<PostgresDatabase> => openPostgres({ url, connections: 4 });
const all = { limit: 100, room: () => 100 };

const engine: QueueCase = {
  name: "postgres",
  open,
  reset: async () => {
    url = await postgres.database();
  },
  pass: async (clock, ms) => {
    clock.at += ms;
    await new Promise((resolve) => setTimeout(resolve, ms));
  },
};
queueCase(engine);
jobNamesCase(engine);
queueWorkerCase(engine);
queueBytesCase(engine);
queueFaultsCase(engine);
modelCase(engine, {
  runs: 20,
  leasesNearer: "update adbind_jobs set lease_until = lease_until - ?::bigint where topic = ?",
});

test("instances that start together on an empty database all start", async () => {
  url = await postgres.database();
  for (const database of await Promise.all([open(), open(), open(), open()])) await database.close();
});

test("another instance is woken after the commit, not by its next poll", async () => {
  const [here, there] = [await open(), await open()];
  const [queue, other] = [openQueue(here, "test"), openQueue(there, "test")];
  const [first, listening] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let woken = first.resolve;
  other.onWake(() => woken());
  let own: () => unknown = listening.resolve;
  queue.onWake(() => own());
  // Once when each begins to listen: something may have come before.
  await Promise.all([first.promise, listening.promise]);
  const second = Promise.withResolvers<void>();
  woken = second.resolve;
  let told = 0;
  own = () => (told += 1);
  await queue.removeKept({ kind: "prune", before: Date.now(), limit: 10 });
  assert.is(told, 0, "what is pruned lets nothing go");
  await put(queue, job());
  await second.promise;
  for (const one of [queue, other]) await one.close();
  for (const one of [here, there]) await one.close();
});

test("jobs of a process that is killed come back within seconds of its lease", async () => {
  url = await postgres.database();
  const database = await open();
  const queue = openQueue(database, "test");
  await put(queue, job({ key: "held" }));
  const child = spawn(process.execPath, [...fromSource, path.join(import.meta.dirname, "holder.ts"), url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  assert.equal(await queue.take({ now: Date.now(), ...all }), []);
  child.kill("SIGKILL");
  let found: readonly unknown[] = [];
  const isBack = async (): Promise<boolean> => {
    found = await queue.take({ now: Date.now(), ...all });
    return found.length > 0;
  };
  await until(isBack, "its lease ends", { limitMs: 20_000, stepMs: 250 });
  assert.is(found.length, 1);
  await database.close();
});

test("a transaction that has added jobs and stays open holds nothing that others need", async () => {
  url = await postgres.database();
  const database = await open();
  const queue = openQueue(database, "test");
  await put(queue, job({ key: "before", orderingKey: "t" }));
  const client = await database.pool.connect();
  await client.query("begin");
  await queue.within(client, (q) => queue.add(q, [job({ key: "open", orderingKey: "t" })]));
  await put(queue, job({ key: "after", orderingKey: "u" }));
  const jobs = await queue.take({ now: Date.now(), ...all });
  assert.equal(jobs.map(({ key }) => key).sort(), ["after", "before"]);
  await queue.ack(
    jobs.map((one) => ({ job: one, outcome: { kind: "done" } })),
    Date.now(),
  );
  await client.query("commit");
  client.release();
  assert.equal(
    (await queue.take({ now: Date.now(), ...all })).map(({ key }) => key),
    ["open"],
  );
  await database.close();
});

test("one behind another is never left behind, whoever comes first", async () => {
  url = await postgres.database();
  const database = await openPostgres({ url, connections: 12 });
  const instances = [1, 2, 3].map(() => openQueue(database, "test"));
  const order: string[] = [];
  const tasks = 20;
  const each = 6;
  for (let n = 0; n < each; n++) {
    await put(
      instances[0]!,
      ...Array.from({ length: tasks }, (_, task) =>
        job({ key: `${task}/${n}`, orderingKey: `${task}`, endpoint: `${task % 3}` }),
      ),
    );
  }
  const work = async (queue: (typeof instances)[number]): Promise<void> => {
    while (order.length < tasks * each) {
      const jobs = await queue.take({ now: Date.now(), limit: 7, room: () => 3 });
      order.push(...jobs.map(({ key }) => key));
      await Promise.all(jobs.map((one) => queue.ack([{ job: one, outcome: { kind: "done" } }], Date.now())));
    }
  };
  await Promise.all(instances.map(work));
  for (let task = 0; task < tasks; task++) {
    const own = order.filter((key) => key.startsWith(`${task}/`));
    assert.equal(
      own,
      Array.from({ length: each }, (_, n) => `${task}/${n}`),
    );
  }
  await database.close();
});

test("what waits under an ordering key goes on, whoever ends two before it at the same time", async () => {
  url = await postgres.database();
  const database = await openPostgres({ url, connections: 6 });
  const queue = openQueue(database, "test");
  const other = new pg.Client(url);
  await other.connect();
  for (const second of ["waits", "is under way"]) {
    const orderingKey = second;
    await put(queue, ...["a", "b", "c"].map((key) => job({ key: `${second} ${key}`, orderingKey })));
    const [first] = await queue.take({ now: Date.now(), ...all });
    const [, { id }] = (await queue.list({ orderingKeys: [orderingKey] })) as [ListedJob, ListedJob, ListedJob];
    // Of a transaction that was still open as the second was leased.
    if (second === "is under way") await other.query("update adbind_jobs set due = 0, token = 't' where id = $1", [id]);
    await other.query("begin");
    await other.query("delete from adbind_jobs where id = $1", [id]);
    await other.query("select adbind_let_next_go('test', $1, $2)", [[orderingKey], Date.now()]);
    const ack = () => queue.ack([{ job: first!, outcome: { kind: "done" } }], Date.now());
    const written = ack();
    await until(async () => (await locksWaited(database)) > 0);
    await other.query("commit");
    // It waits for so short a time that this may be too late.
    assert.equal((await written)[0] === "busy" ? await ack() : await written, [true]);
    const [left] = await queue.take({ now: Date.now(), ...all });
    assert.is(left?.key, `${second} c`);
    await queue.ack([{ job: left!, outcome: { kind: "done" } }], Date.now());
  }
  await other.end();
  await database.close();
});

test("who drops an event and has to give way to another that ends one under its key does it again", async () => {
  url = await postgres.database();
  const database = await openPostgres({ url, connections: 6 });
  const queue = openQueue(database, "test");
  await put(queue, ...["a", "b", "c", "d"].map((key) => job({ key, orderingKey: "o" })));
  // Those after the first wait for it.
  const [first] = await queue.take({ now: Date.now(), ...all });
  const [, b, c] = (await queue.list()) as [ListedJob, ListedJob, ListedJob, ListedJob];
  const [drops, ends] = [new pg.Client(url), new pg.Client(url)];
  await Promise.all([drops.connect(), ends.connect()]);
  // Which of the two gives way: whose time is over first.
  await ends.query("set deadlock_timeout = '20s'");
  for (const [client, { id }] of [
    [drops, b],
    [ends, c],
  ] as const) {
    await client.query("begin");
    await client.query("delete from adbind_jobs where id = $1", [id]);
  }
  const dropped = queue.drop(first!.id, Date.now());
  await until(async () => (await locksWaited(database)) === 1, "it waits for the second, which is being dropped");
  await drops.query("commit");
  await until(
    async () => (await advisoryLocks(database)) === 1 && (await locksWaited(database)) === 1,
    "and for the third",
  );
  const ended = ends.query("select adbind_let_next_go('test', '{o}', $1)", [Date.now()]);
  await until(async () => (await locksWaited(database)) === 1, "one has given way");
  await ended;
  await ends.query("commit");
  assert.is(await dropped, true);
  assert.equal(
    (await queue.take({ now: Date.now(), ...all })).map(({ key }) => key),
    ["d"],
  );
  await Promise.all([drops.end(), ends.end()]);
  await queue.close();
  await database.close();
});

/** Locks of an ordering key that transactions of the database have. */
async function advisoryLocks(database: PostgresDatabase): Promise<number> {
  const [row] = await database.query((q) =>
    q.rows<{ n: number }>(
      "select count(*) as n from pg_locks where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())",
    ),
  );
  return row!.n;
}

/** Sessions of the database that wait for another's lock. */
async function locksWaited(database: PostgresDatabase): Promise<number> {
  const [row] = await database.query((q) =>
    q.rows<{ n: number }>(
      "select count(*) as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    ),
  );
  return row!.n;
}

test.after(() => postgres.stop());
test.run();
