import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Database } from "better-sqlite3";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { embeddedQueue } from "../../runtime/queue/embedded.js";
import { createWorker } from "../../runtime/queue/worker.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/sqlite/open.js";
import { until } from "../support/until.js";
import { queueCase } from "./queue.case.js";
import { job, NOW, type QueueCase } from "./queue-suite.js";
import { queueWorkerCase } from "./queue-worker.case.js";

const folder = mkdtempSync(path.join(tmpdir(), "adbind-queue-"));
let count = 0;
const file = () => path.join(folder, `${count}.db`);
const stores: SqliteStore[] = [];
const open = (): SqliteStore => {
  const store = openSqliteStore({ path: file() });
  stores.push(store);
  return store;
};

const engine: QueueCase<Database> = {
  name: "embedded",
  open: async (now) => embeddedQueue(open(), "test", { now }),
  reset: async () => {
    for (const store of stores.splice(0)) await store.close();
    count += 1;
  },
  kill: async () => undefined,
  recoveryMs: 30_000,
  pass: async (clock, ms) => {
    clock.at += ms;
  },
  record: (tx, value) => {
    tx.exec("create table if not exists effects (value text)");
    tx.prepare("insert into effects values (?)").run(value);
  },
  recorded: async () => {
    const store = open();
    store.db.exec("create table if not exists effects (value text)");
    return store.db
      .prepare<[], { value: string }>("select value from effects")
      .all()
      .map((row) => row.value);
  },
};
queueCase(engine);
queueWorkerCase(engine);

test("work that returns a promise is refused and undone", async () => {
  count += 1;
  const queue = embeddedQueue(open(), "test");
  try {
    await queue.transact(async (tx) => queue.add(tx, [job()]));
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof AdbindError && error.code === "store_effect");
  }
  assert.equal(await queue.list(), []);
});

test("a job fits into the application's own synchronous transaction", async () => {
  count += 1;
  const store = open();
  const queue = embeddedQueue(store, "test");
  let woken = 0;
  queue.onWake(() => {
    woken += 1;
  });
  store.db.transaction(() => queue.add(store.db, [job({ key: "kept" })]))();
  assert.throws(() =>
    store.db.transaction(() => {
      queue.add(store.db, [job({ key: "undone" })]);
      throw new Error("no");
    })(),
  );
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(
    (await queue.list()).map((one) => one.key),
    ["kept"],
  );
  assert.is(woken, 2);
});

test("on a full disk what happened is kept and written when there is room again", async () => {
  count += 1;
  const store = open();
  const queue = embeddedQueue(store, "test", { now: () => NOW });
  await queue.transact((tx) => queue.add(tx, [job({ key: "1" })]));
  let full = true;
  let sent = 0;
  const faults: unknown[] = [];
  const worker = createWorker<Database>({
    queue,
    now: () => NOW,
    pollMs: 20,
    longestDelayMs: 1_000_000,
    onFault: (error) => faults.push(error),
    handle: async () => {
      sent += 1;
      if (full) store.db.pragma(`max_page_count = ${store.db.pragma("page_count", { simple: true }) as number}`);
      return { verdict: { kind: "done" }, healthy: true };
    },
    effect: (tx) => {
      tx.exec("create table if not exists log (value text)");
      tx.prepare("insert into log values (?)").run("x".repeat(200_000));
    },
  });
  worker.start();
  await until(() => faults.length >= 2);
  full = false;
  store.db.pragma("max_page_count = 1000000");
  await until(() => worker.out === 0);
  await worker.stop();
  assert.is(sent, 1);
  assert.equal(await queue.counts(), { ready: 0, dead: 0 });
  assert.match(String(faults[0]), /full/);
});

test("taking and adding look things up by index, whatever waits", async () => {
  count += 1;
  const { db } = open();
  const plan = (sql: string): string =>
    db
      .prepare<[], { detail: string }>(`explain query plan ${sql}`)
      .all()
      .map((row) => row.detail)
      .join("; ");
  const ready = "state = 'ready'";
  for (const [sql, index] of [
    [`select * from adbind_jobs where topic='t' and grp='a' and ${ready} and due <= 1 order by due, id limit 5`, "due"],
    [`select min(due) from adbind_jobs where topic='t' and grp='a' and ${ready}`, "due"],
    [`select 1 from adbind_jobs where topic='t' and lane='a' and ${ready} and attempts = 0 limit 1`, "lane"],
    ["select grp from adbind_groups where topic='t' and ready_at <= 5 order by ready_at", "ready"],
  ] as const) {
    const detail = plan(sql);
    assert.match(detail, new RegExp(`USING (COVERING )?INDEX adbind_\\w+_${index}\\b`), detail);
    assert.not.match(detail, "SCAN");
  }
});

test.after(async () => {
  for (const store of stores.splice(0)) await store.close();
  rmSync(folder, { recursive: true, force: true });
});
test.run();
