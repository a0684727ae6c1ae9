/** What the loop of jobs does where a lease, a stop and an acknowledgement meet, on a real queue. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Leasable } from "../../runtime/queue/ahead.js";
import { HeldJobs, times } from "../../runtime/queue/held-jobs.js";
import { createWorker, openQueue, type Queue } from "../../runtime/queue/index.js";
import { JobLoop } from "../../runtime/queue/job-loop.js";
import type { Job } from "../../runtime/queue/types.js";
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

const put = (queue: Queue, count = 1): Promise<void> =>
  queue.transact((tx) =>
    queue.add(
      tx,
      Array.from({ length: count }, () => ({
        ...{ key: "k", random: true, endpoint: "g", meta: "{}", body: Buffer.from("{}") },
      })),
    ),
  );

test("a job that is leased again before its acknowledgement is told is attempted again, at once", async ({ queue }) => {
  // One that is well has more than one slot: its first is taken until the acknowledgement is told.
  let well = false;
  let attempts = 0;
  let leases = 0;
  const worker = createWorker({
    queue: {
      ...queue,
      async take(request) {
        const jobs = await queue.take(request);
        if (well) leases += jobs.length;
        return jobs;
      },
      async ack(acks, now) {
        const written = await queue.ack(acks, now);
        // The job is due at once, and leased by a look of the same worker.
        if (attempts === 1) await until(() => leases === 2, "it is leased again");
        return written;
      },
    },
    ...{ concurrency: 16, pollMs: 5, longestDelayMs: 60_000 },
    handle: async () => {
      if (!well) return { outcome: { kind: "done" }, healthy: true };
      attempts += 1;
      const later = { kind: "later", due: Date.now(), error: "not yet" } as const;
      return { outcome: attempts === 1 ? later : { kind: "done" }, healthy: null };
    },
  });
  await put(queue);
  worker.start();
  await until(async () => (await queue.counts()).ready === 0 && worker.out === 0, "it is well");
  well = true;
  await put(queue);
  await until(() => attempts === 2, "it is attempted again");
  await worker.stop();
  assert.equal([attempts, await queue.list()], [2, []]);
});

test("a job that is leased again while its acknowledgement is refused is not attempted again", async ({ queue }) => {
  // Jobs are added by the system's clock: they are due by this one.
  let at = Date.now() + LEASE_MS;
  let attempts = 0;
  const leasedAgain = Promise.withResolvers<void>();
  const told = Promise.withResolvers<void>();
  const worker = createWorker({
    queue: {
      ...queue,
      async take(request) {
        const jobs = await queue.take(request);
        if (attempts < 2 || jobs.length === 0) return jobs;
        leasedAgain.resolve();
        // The worker hears of the acknowledgement first.
        await told.promise;
        await turns();
        return jobs;
      },
      async ack(acks, now) {
        const written = await queue.ack(acks, now);
        if (written.includes(false)) told.resolve();
        return written;
      },
    },
    ...{ now: () => at, pollMs: 5, longestDelayMs: 2 * LEASE_MS },
    handle: async () => {
      attempts += 1;
      if (attempts === 2) await leasedAgain.promise;
      return { outcome: { kind: "done" }, healthy: true };
    },
  });
  await put(queue);
  worker.start();
  await until(
    () => attempts === 1 && worker.out === 0,
    "its endpoint is well: another is leased while one is under way",
  );
  await put(queue);
  await until(() => attempts === 2, "it is attempted");
  at += LEASE_MS + 1;
  await until(async () => (await queue.list()).length === 0, "it is done");
  await worker.stop();
  assert.is(attempts, 2);
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

test("who is told of leased jobs is told before the first of them is attempted", async ({ queue }) => {
  const told: string[] = [];
  const worker = createWorker({
    ...{ queue, longestDelayMs: 60_000 },
    onLeased: (jobs) => void told.push(`leased ${jobs.length}`),
    handle: async () => {
      told.push("attempted");
      return { outcome: { kind: "done" }, healthy: true };
    },
  });
  await put(queue);
  worker.start();
  await until(() => told.length === 2, "it is attempted");
  await worker.stop();
  assert.equal(told, ["leased 1", "attempted"]);
});

test("who paused for being busy looks again when all slots are free, and does not wait for the end of the pause", async ({
  queue,
}) => {
  const [slots, jobs] = [32, 96];
  const more = Promise.withResolvers<void>();
  let [looks, begun, done] = [0, 0, 0];
  const loop = new JobLoop<Job>({
    source: {
      leaseMs: LEASE_MS,
      claim: (request) => queue.take(request),
      renew: (held) => queue.renew(held, Date.now()),
      release: async () => undefined,
      restMs: () => 5,
      onWake: (listener) => queue.onWake(listener),
      keepsAlive: true,
    },
    sharing: {
      endpointOf: ({ endpoint }) => endpoint,
      plan: (free) => () => free,
      widthOf: () => slots,
      started: () => undefined,
      returned: () => undefined,
    },
    ...{ turns: { concurrency: slots }, ahead: 1, claimsEarly: true, finishing: 0, atHand: { jobs: 0, weight: 0 } },
    ...{ waitMs: Number.POSITIVE_INFINITY, renewMs: LEASE_MS, now: Date.now },
    // Longer than a test may take.
    busyPauseMs: 600_000,
    onFault: ({ error }) => assert.unreachable(String(error)),
    looking: async () => {
      looks += 1;
    },
    async attempt({ job }, { free }) {
      begun += 1;
      // Half of the first are over while the others have just begun: a look finds no slot, and pauses.
      if (begun > slots / 2) await more.promise;
      await new Promise(setImmediate);
      free();
      await more.promise;
      await queue.ack([{ job, outcome: { kind: "done" } }], Date.now());
      done += 1;
      return "gone";
    },
  });
  await put(queue, jobs);
  loop.start();
  await until(() => looks === 2, "it looks while half are over");
  more.resolve();
  try {
    await until(
      () => done === jobs,
      () => `${done} of ${jobs} are done`,
    );
  } finally {
    await loop.stop();
  }
});

test("a renewal that was asked under an old lease takes nothing from who has leased it again meanwhile", async () => {
  const answered = Promise.withResolvers<ReadonlySet<number>>();
  let asked = 0;
  const held = new HeldJobs<Leasable>(
    {
      ...{ leaseMs: LEASE_MS, claim: async () => [], release: async () => undefined, restMs: () => 5 },
      ...{ onWake: () => () => undefined, keepsAlive: true },
      renew: () => {
        asked += 1;
        return answered.promise;
      },
    },
    2,
  );
  const [kept, lost] = [1, 2].map((id) => held.add({ id }, "a", times()));
  const told: boolean[][] = [];
  held.keep(
    () => undefined,
    (isLost) => told.push([kept!, lost!].map(isLost)),
  );
  await until(() => asked > 0, "a renewal is under way");
  held.leave();
  assert.ok(held.leasedAgain({ id: 1 }, times()));
  answered.resolve(new Set());
  await until(() => told.length === asked);
  assert.equal(told[0], [false, true]);
});

test.run();
