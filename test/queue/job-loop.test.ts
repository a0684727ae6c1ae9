/** What the loop of jobs does where a lease, a stop and an acknowledgement meet, on a real queue. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createWorker, openQueue, type Queue } from "../../runtime/queue/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { turns, until } from "../support/until.js";

/** Longer than anything here waits: what is left to its lease is not seen again. */
const LEASE_MS = 3_600_000;

interface Ground {
  queue: Queue;
  close: () => Promise<void>;
}

const test = suite<Ground>("job loop");

test.before.each((context) => {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-job-loop-"));
  const store = openSqliteStore({ path: path.join(folder, "q.db") });
  const queue = openQueue(store.database, "t", { leaseMs: LEASE_MS });
  context.queue = queue;
  context.close = async () => {
    await queue.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
});
test.after.each(({ close }) => close());

const put = (queue: Queue): Promise<void> =>
  queue.transact((tx) =>
    queue.add(tx, [{ key: "k", random: true, endpoint: "g", meta: "{}", body: Buffer.from("{}") }]),
  );

test("a job that is leased again before its acknowledgement is told is attempted again, at once", async ({ queue }) => {
  let attempts = 0;
  let leases = 0;
  const worker = createWorker({
    queue: {
      ...queue,
      async take(request) {
        const jobs = await queue.take(request);
        leases += jobs.length;
        return jobs;
      },
      async ack(acks, now) {
        const written = await queue.ack(acks, now);
        // The job is due at once, and leased by a look of the same worker.
        if (attempts === 1) await until(() => leases === 2, "it is leased again");
        return written;
      },
    },
    ...{ concurrency: 2, pollMs: 5, longestDelayMs: 60_000 },
    handle: async () => {
      attempts += 1;
      const later = { kind: "later", due: Date.now(), error: "not yet" } as const;
      return { outcome: attempts === 1 ? later : { kind: "done" }, healthy: null };
    },
  });
  await put(queue);
  worker.start();
  await until(() => attempts === 2, "it is attempted again");
  await worker.stop();
  assert.equal([attempts, await queue.list()], [2, []]);
});

test("what the last look of a worker that stops has leased is given back unattempted", async ({ queue }) => {
  const leased = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  let attempts = 0;
  const worker = createWorker({
    queue: {
      ...queue,
      async take(request) {
        const jobs = await queue.take(request);
        if (jobs.length > 0) leased.resolve();
        await held.promise;
        return jobs;
      },
    },
    longestDelayMs: 60_000,
    handle: async () => {
      attempts += 1;
      return { outcome: { kind: "done" }, healthy: true };
    },
  });
  await put(queue);
  worker.start();
  await leased.promise;
  const stopped = worker.stop();
  await turns();
  held.resolve();
  await stopped;
  const [left] = await queue.list();
  assert.equal([attempts, left?.attempts, left?.startedAt, left?.firstAt], [0, 0, null, null]);
});

test.run();
