import { spawn } from "node:child_process";
import path from "node:path";
import { sql } from "kysely";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openBossQueue } from "../../runtime/queue/pg-boss.js";
import type { Queue } from "../../runtime/queue/types.js";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/postgres/open.js";
import type { Tx } from "../../runtime/store/postgres/tables.js";
import { fromSource } from "../runner/from-source.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { queueCase } from "./queue.case.js";
import { job, type QueueCase } from "./queue-suite.js";
import { queueWorkerCase } from "./queue-worker.case.js";

const postgres = await sharedPostgres();
let url = "";
const stores = new Map<Queue<Tx>, PostgresStore>();
const open = async (now: () => number = Date.now): Promise<Queue<Tx>> => {
  const store = await openPostgresStore({ url, connections: 4 });
  const queue = await openBossQueue(store, "test", { now });
  stores.set(queue, store);
  return queue;
};

const engine: QueueCase<Tx> = {
  name: "pg-boss",
  open,
  reset: async () => {
    for (const store of stores.values()) await store.close();
    stores.clear();
    url = await postgres.database();
  },
  kill: async (queue) => queue.close(),
  recoveryMs: 30_000,
  pass: async (clock, ms) => {
    clock.at += ms;
    await new Promise((resolve) => setTimeout(resolve, ms));
  },
  record: async (tx, value) => {
    await sql`create table if not exists effects (id serial, value text)`.execute(tx);
    await sql`insert into effects (value) values (${value})`.execute(tx);
  },
  recorded: async (queue) => {
    const { db } = stores.get(queue)!;
    await sql`create table if not exists effects (id serial, value text)`.execute(db);
    const { rows } = await sql<{ value: string }>`select value from effects order by id`.execute(db);
    return rows.map((row) => row.value);
  },
};
queueCase(engine);
queueWorkerCase(engine);

test("the row and the job of pg-boss are one transaction", async () => {
  url = await postgres.database();
  const queue = await open();
  const { db } = stores.get(queue)!;
  const both = async () => {
    const { rows } = await sql<{ rows: number; jobs: number }>`select (select count(*)::int from adbind_jobs) as rows,
      (select count(*)::int from adbind_boss.job where name = 'test') as jobs`.execute(db);
    return rows[0];
  };
  await queue
    .transact(async (tx) => {
      await queue.add(tx, [job(), job()]);
      throw new Error("no");
    })
    .catch(() => undefined);
  assert.equal(await both(), { rows: 0, jobs: 0 });
  await queue.transact((tx) => queue.add(tx, [job(), job()]));
  assert.equal(await both(), { rows: 2, jobs: 2 });
  const jobs = await queue.take({ now: Date.now(), limit: 10, room: () => 10 });
  await queue.settle(
    jobs.map((one) => ({ job: one, verdict: { kind: "done" } })),
    Date.now(),
  );
  assert.equal(await both(), { rows: 0, jobs: 0 });
  await queue.close();
});

test("instances that start together on an empty database all start", async () => {
  url = await postgres.database();
  for (const queue of await Promise.all([open(), open(), open(), open()])) await queue.close();
});

test("another instance is woken by the commit, not by its next poll", async () => {
  const [here, there] = [await open(), await open()];
  const woken = new Promise<void>((resolve) => {
    there.onWake(resolve);
  });
  await here.transact((tx) => here.add(tx, [job()]));
  await woken;
  await here.close();
  await there.close();
});

test("jobs of a process that is killed come back", async () => {
  url = await postgres.database();
  const queue = await open();
  await queue.transact((tx) => queue.add(tx, [job({ key: "held" })]));
  const child = spawn(process.execPath, [...fromSource, path.join(import.meta.dirname, "holder.ts"), url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  assert.equal(await queue.take({ now: Date.now(), limit: 1, room: () => 1 }), []);
  child.kill("SIGKILL");
  await until(
    async () => (await queue.take({ now: Date.now(), limit: 1, room: () => 1 })).length === 1,
    "the dead process's claim lapses",
    // Thirty seconds are promised of a machine that has nothing else to do.
    120_000,
  );
  await queue.close();
});

test.after(async () => {
  for (const store of stores.values()) await store.close();
  await postgres.stop();
});
test.run();
