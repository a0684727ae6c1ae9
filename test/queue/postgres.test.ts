import { spawn } from "node:child_process";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { fromSource } from "../runner/from-source.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { queueCase } from "./queue.case.js";
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
queueWorkerCase(engine);
queueFaultsCase(engine);

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

test.after(() => postgres.stop());
test.run();
