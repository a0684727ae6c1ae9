/** A stopped worker leaves no write behind: whoever waits for the stop closes the store next. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openQueue } from "../../runtime/queue/index.js";
import { createWorker } from "../../runtime/queue/worker.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { turns, until } from "../support/until.js";

test("a stop waits for jobs that are being prolonged", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-worker-"));
  const store = openSqliteStore({ path: path.join(folder, "q.db") });
  const queue = openQueue(store.database, "t");
  const prolonging = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const order: string[] = [];
  let settled = false;
  const worker = createWorker({
    queue: {
      ...queue,
      async ack(acks, now) {
        const done = await queue.ack(acks, now);
        settled = true;
        return done;
      },
      async renew(jobs, now) {
        prolonging.resolve();
        await held.promise;
        const ours = await queue.renew(jobs, now);
        order.push("prolonged");
        return ours;
      },
    },
    // The job ends as soon as it is being prolonged.
    handle: async () => {
      await prolonging.promise;
      return { outcome: { kind: "done" }, healthy: null };
    },
    renewMs: 20,
    longestDelayMs: 60_000,
  });
  await queue.transact((tx) =>
    queue.add(tx, [{ key: "k", random: true, endpoint: "g", meta: "{}", body: Buffer.from("{}") }]),
  );
  worker.start();
  await prolonging.promise;
  const stop = worker.stop().then(() => order.push("stopped"));
  // Its job is settled: but for the prolonging nothing keeps it from stopping.
  await until(() => settled, "the job is settled");
  await turns();
  held.resolve();
  await stop;
  // On a slow machine the job is prolonged more than once.
  assert.equal([...new Set(order)], ["prolonged", "stopped"]);
  assert.is(order.at(-1), "stopped");
  await queue.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a stop waits for a job that hangs as long as it is told, and what it ends with later is written nowhere", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-worker-"));
  const store = openSqliteStore({ path: path.join(folder, "q.db") });
  const queue = openQueue(store.database, "t");
  const hangs = Promise.withResolvers<void>();
  const began = Promise.withResolvers<() => boolean>();
  const faults: unknown[] = [];
  const worker = createWorker({
    queue,
    handle: async (_, { live }) => {
      began.resolve(live);
      await hangs.promise;
      return { outcome: { kind: "done" }, healthy: null };
    },
    longestDelayMs: 60_000,
    onFault: (fault) => faults.push(fault),
  });
  await queue.transact((tx) =>
    queue.add(tx, [{ key: "k", random: true, endpoint: "g", meta: "{}", body: Buffer.from("{}") }]),
  );
  worker.start();
  const live = await began.promise;
  assert.is(await worker.stop(20), 1);
  assert.not.ok(live(), "nothing more is to be done for it");
  assert.is((await queue.list())[0]!.state, "ready");
  await queue.close();
  await store.close();
  hangs.resolve();
  await turns();
  assert.equal(faults, [], "the database is closed, and nobody asks it");
  rmSync(folder, { recursive: true, force: true });
});

test.run();
