import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Sqlite from "better-sqlite3";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openSqlite, type SqliteDatabase, wait } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { createWorker } from "../../runtime/queue/worker.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { deletedFirstCase } from "./deleted.case.js";
import { modelCase } from "./model.case.js";
import { jobNamesCase } from "./names.case.js";
import { queueCase } from "./queue.case.js";
import { queueBytesCase } from "./queue-bytes.case.js";
import { queueFaultsCase } from "./queue-faults.case.js";
import { job, NOW, put, type QueueCase, record } from "./queue-suite.js";
import { queueWorkerCase } from "./queue-worker.case.js";

const folder = mkdtempSync(path.join(tmpdir(), "adbind-queue-"));
let count = 0;
const file = () => path.join(folder, `${count}.db`);
const open = (): SqliteDatabase => openSqlite({ path: file() });
/** On a file of its own. */
const fresh = (): SqliteDatabase => {
  count += 1;
  return open();
};
const all = { limit: 100, room: () => 100 };

const engine: QueueCase = {
  name: "sqlite",
  open: async () => open(),
  reset: async () => {
    count += 1;
  },
  pass: async (clock, ms) => {
    clock.at += ms;
  },
};
queueCase(engine);
jobNamesCase(engine);
queueWorkerCase(engine);
queueBytesCase(engine);
queueFaultsCase(engine);
deletedFirstCase(engine);
modelCase(engine, { runs: 100 });

test("work that meets a promise is refused and undone", async () => {
  const database = fresh();
  const queue = openQueue(database, "test");
  const work = queue.transact(function* (q) {
    yield* queue.add(q, [job()]);
    yield* wait(Promise.resolve());
  });
  assert.is(await codeOf(() => work), "store_effect");
  assert.equal(await queue.list(), []);
  await database.close();
});

test("a job fits into a synchronous transaction of the application, on its own handle too", async () => {
  const database = fresh();
  const queue = openQueue(database, "test");
  const own = new Sqlite(file());
  for (const handle of [database.file, own]) {
    const add = (key: string) => queue.within(handle, (q) => queue.add(q, [job({ key })]));
    handle.transaction(() => add(`kept ${handle === own}`))();
    assert.throws(() =>
      handle.transaction(() => {
        add("undone");
        throw new Error("no");
      })(),
    );
    assert.is(await codeOf(async () => add("alone")), "transaction_invalid");
  }
  const elsewhere = new Sqlite(path.join(folder, "elsewhere.db"));
  elsewhere.exec("begin");
  const lost = () => queue.within(elsewhere, (q) => queue.add(q, [job()]));
  assert.is(await codeOf(async () => lost()), "transaction_invalid");
  assert.equal(
    (await queue.list()).map((one) => one.key),
    ["kept false", "kept true"],
  );
  for (const handle of [own, elsewhere]) handle.close();
  await database.close();
});

test("on a full disk what happened is kept and written when there is room again", async () => {
  const database = fresh();
  const { file: handle } = database;
  const queue = openQueue(database, "test", { now: () => NOW });
  await put(queue, job({ key: "1" }));
  handle.exec("create table effects (value text)");
  let full = true;
  let sent = 0;
  const faults: unknown[] = [];
  const worker = createWorker({
    queue,
    now: () => NOW,
    pollMs: 20,
    longestDelayMs: 1_000_000,
    onFault: (error) => faults.push(error),
    handle: async () => {
      sent += 1;
      if (full) handle.pragma(`max_page_count = ${handle.pragma("page_count", { simple: true }) as number}`);
      return { outcome: { kind: "done" }, healthy: true };
    },
    effect: (q) => record(q, "x".repeat(200_000)),
  });
  worker.start();
  await until(() => faults.length >= 2);
  full = false;
  handle.pragma("max_page_count = 1000000");
  await until(() => worker.out === 0);
  await worker.stop();
  assert.is(sent, 1);
  assert.is((await queue.counts()).ready, 0);
  assert.match(String(faults[0]), /full/);
  await database.close();
});

test("taking and adding look things up by index, whatever waits", async () => {
  const database = fresh();
  const plan = (sql: string): string =>
    database.file
      .prepare<[], { detail: string }>(`explain query plan ${sql}`)
      .all()
      .map((row) => row.detail)
      .join("; ");
  const ready = "state = 'ready'";
  for (const [sql, index] of [
    [
      `select * from adbind_jobs where topic='t' and endpoint='a' and ${ready} and due <= 1 order by due, id limit 5`,
      "due",
    ],
    [`select min(due) from adbind_jobs where topic='t' and endpoint='a' and ${ready}`, "due"],
    [`select 1 from adbind_jobs where topic='t' and ordering_key='a' and ${ready} and attempts = 0 limit 1`, "order"],
    [
      "select endpoint from adbind_endpoints where topic='t' and (ready_at, endpoint) > (1, 'a') and ready_at <= 5 order by ready_at, endpoint",
      "ready",
    ],
  ] as const) {
    const detail = plan(sql);
    assert.match(detail, new RegExp(`USING (COVERING )?INDEX adbind_\\w+_${index}\\b`), detail);
    assert.not.match(detail, /SCAN|TEMP/);
  }
  await database.close();
});

test("what a dead worker left at an endpoint goes to another, as what waits there", async () => {
  const database = fresh();
  const clock = { at: NOW };
  const queue = openQueue(database, "test", { now: () => clock.at });
  await put(queue, job({ orderingKey: "t" }), job());
  assert.is((await queue.take({ now: clock.at, ...all })).length, 2);
  await queue.stop("a", clock.at);
  clock.at += queue.leaseMs;
  await queue.transact((q) => queue.redirect(q, "t", "b"));
  assert.is((await queue.take({ now: clock.at, ...all })).length, 1);
  assert.is(await queue.adjust({ kind: "rehome", from: "a", to: "b", ids: [1, 2] }, clock.at), 1);
  assert.is((await queue.take({ now: clock.at, ...all })).length, 1);
  await queue.close();
  await database.close();
});

test("a time beyond all numbers that somebody has written keeps nobody else's jobs", async () => {
  const database = fresh();
  const queue = openQueue(database, "test");
  await put(queue, job({ endpoint: "a" }), job({ endpoint: "b" }));
  database.file.exec("update adbind_jobs set due = 9223372036854775807 where endpoint = 'a'");
  for (const endpoint of ["b", "a"]) {
    const taken = await queue.take({ now: Date.now(), ...all });
    assert.equal(
      taken.map((one) => one.endpoint),
      [endpoint],
    );
    await put(queue, job({ endpoint: "a" }));
  }
  await queue.close();
  await database.close();
});

test("what a dead worker held is back within a lease after the clock was set back", async () => {
  const database = fresh();
  const clock = { at: Date.UTC(2030, 0, 1) };
  const queue = openQueue(database, "test", { now: () => clock.at, leaseMs: 10_000 });
  await put(queue, job({ key: "1" }));
  assert.is((await queue.take({ now: clock.at, ...all })).length, 1);
  clock.at -= 3_600_000;
  await queue.pull(clock.at + 7_200_000, clock.at);
  assert.is((await queue.take({ now: clock.at, ...all })).length, 0, "it may be alive");
  clock.at += 10_000;
  assert.is((await queue.take({ now: clock.at, ...all })).length, 1);
  // And what a failing endpoint without jobs has still of the old clock.
  await queue.pause("b", { pausedUntil: clock.at + 86_400_000, failingSince: clock.at, began: clock.at });
  await queue.pull(clock.at + 7_200_000, clock.at);
  await put(queue, job({ key: "2", endpoint: "b" }));
  assert.is((await queue.take({ now: clock.at, ...all })).length, 1);
  await queue.close();
  await database.close();
});

test.after(() => rmSync(folder, { recursive: true, force: true }));
test.run();
