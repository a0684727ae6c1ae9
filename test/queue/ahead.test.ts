/** Jobs that are leased before there is a slot for them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Ahead, type BegunAttempt, type HeldJob, type Leasable } from "../../runtime/queue/ahead.js";
import { Endpoints } from "../../runtime/queue/endpoints.js";
import { createWorker, openQueue } from "../../runtime/queue/index.js";
import { JobLoop } from "../../runtime/queue/job-loop.js";
import { LEASED_PER_SLOT } from "../../runtime/queue/slots.js";
import { workerSettingsOf } from "../../runtime/queue/worker-options.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { until } from "../support/until.js";

const heldOf = (endpoint: string): HeldJob<Leasable> => ({
  ...{ job: { id: 1 }, endpoint, since: 0, sinceWall: 0, waitsSince: 0, begun: false, again: false, lost: false },
});

test("no endpoint has more under way than its slots, and the next begins when one ends", () => {
  const begun: BegunAttempt[] = [];
  const ahead = new Ahead({ concurrency: 10, widthOf: () => 2, begin: (_held, one) => void begun.push(one) });
  for (let n = 0; n < 5; n++) for (const endpoint of ["a", "b", "c"]) ahead.add(heldOf(endpoint));
  ahead.begin();
  assert.equal(begun.map(({ endpoint }) => endpoint).sort(), ["a", "a", "b", "b", "c", "c"]);
  ahead.ended(begun[0]!);
  assert.is(begun.length, 7);
  assert.is(begun[6]!.endpoint, begun[0]!.endpoint);
  assert.is(ahead.waiting, 8);
  assert.is(ahead.drop("b").length, 3);
  for (const one of begun) if (one !== begun[0]) ahead.ended(one);
  assert.not.ok(begun.slice(7).some(({ endpoint }) => endpoint === "b"));
});

test("few begin at once; those that take long do not hold up the others", async () => {
  const begun: BegunAttempt[] = [];
  const ahead = new Ahead({ concurrency: 200, widthOf: () => 200, begin: (_held, one) => void begun.push(one) });
  for (let n = 0; n < 300; n++) ahead.add(heldOf("a"));
  ahead.begin();
  const first = begun.length;
  assert.ok(first < 100, `${first} at once`);
  await until(() => begun.length === 200, "all slots are used");
  assert.is(ahead.waiting, 100);
});

const busyFor = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

test("in a process that is busy all the time nothing is slow for its answer has not been read; in the end it is all the same", () => {
  const begun: BegunAttempt[] = [];
  const ahead = new Ahead({ concurrency: 200, widthOf: () => 200, begin: (_held, one) => void begun.push(one) });
  for (let n = 0; n < 300; n++) ahead.add(heldOf("a"));
  ahead.begin();
  const first = begun.length;
  busyFor(40);
  ahead.begin();
  assert.is(begun.length, first);
  busyFor(300);
  ahead.begin();
  assert.ok(begun.length > first);
  ahead.drop();
});

test("only an endpoint that is well, and has no limit of its own, is leased from ahead", () => {
  const settings = { queue: undefined as never, handle: undefined as never, longestDelayMs: 1 };
  const endpoints = new Endpoints(workerSettingsOf(settings));
  const roomOf = (name: string, ahead: number): number => endpoints.plan(1_000, 10_000, ahead)(name);
  assert.is(roomOf("new", 100), 1);
  for (const name of ["well", "limited"]) {
    endpoints.started(name, 0);
    endpoints.succeeded(name, 0);
  }
  endpoints.limit("limited", 1_000);
  assert.is(roomOf("well", 0), 2);
  assert.is(roomOf("well", 100), 2 * LEASED_PER_SLOT);
  assert.is(roomOf("well", 3), 5);
  assert.is(roomOf("limited", 100), 2);
  for (let n = 0; n < 5; n++) endpoints.started("well", 0);
  for (let n = 0; n < 5; n++) endpoints.failed("well", 0);
  assert.is(endpoints.plan(1_000, 3_600_000, 100)("well"), 1);
});

/** What a loop had leased when it looked for more, and how many of that had begun. */
async function secondLook(claimsEarly: boolean, ahead = 32): Promise<readonly [leased: number, begun: number]> {
  // Of an endpoint as many are under way as it has slots.
  const [concurrency, slots] = [256, 32];
  const begun: (() => void)[] = [];
  /** Jobs leased before a look, and how many of them had begun by then. */
  const looks: (readonly [leased: number, begun: number])[] = [];
  let leased = 0;
  const loop = new JobLoop<Leasable>({
    source: {
      leaseMs: 600_000,
      claim: async ({ limit }) => {
        looks.push([leased, begun.length]);
        return Array.from({ length: looks.length === 1 ? Math.min(limit, slots + ahead) : 0 }, () => ({
          id: leased++,
        }));
      },
      renew: async (held) => new Set(held.map(({ id }) => id)),
      ...{ release: async () => undefined, restMs: () => 600_000, onWake: () => () => undefined, keepsAlive: true },
    },
    sharing: {
      ...{ endpointOf: () => "a", plan: (free) => () => free, widthOf: () => slots },
      ...{ started: () => undefined, returned: () => undefined },
    },
    ...{ turns: { concurrency, atOnce: slots }, ahead, claimsEarly, finishing: 0, atHand: { jobs: 0, weight: 0 } },
    ...{ waitMs: Number.POSITIVE_INFINITY, renewMs: 600_000, now: Date.now },
    // Longer than a test may take.
    busyPauseMs: 600_000,
    onFault: ({ error }) => assert.unreachable(String(error)),
    async attempt(_job, { free }) {
      await new Promise<void>((resolve) => begun.push(resolve));
      free();
      return "gone";
    },
  });
  loop.start();
  try {
    await until(() => begun.length === slots, "all slots are taken");
    for (let ended = 0; looks.length < 2; ended++) {
      begun[ended]!();
      await new Promise(setImmediate);
    }
    return looks[1]!;
  } finally {
    for (let at = 0; at < begun.length; at++) begun[at]!();
    const stopped = loop.stop();
    await until(() => {
      for (const end of begun) end();
      return loop.out === 0;
    }, "all have ended");
    await stopped;
  }
}

test("more is looked for while most of what was leased ahead still waits: no slot is empty meanwhile", async () => {
  assert.equal(await secondLook(true), [64, 40]);
});

test("where less waits than begins at a time, more is looked for when half has ended", async () => {
  assert.equal(await secondLook(true, 16), [48, 48]);
});

test("where a look holds up attempts, it is made when few are left, for the more of them", async () => {
  assert.equal(await secondLook(false), [64, 64]);
});

test("what waited for a slot is given back as if it had not been leased, when the worker stops", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-ahead-"));
  const store = openSqliteStore({ path: path.join(folder, "q.db") });
  const queue = openQueue(store.database, "t");
  let hanging = false;
  const hung: (() => void)[] = [];
  let done = 0;
  const worker = createWorker({
    queue,
    concurrency: 64,
    perEndpoint: 4,
    longestDelayMs: 60_000,
    handle: async () => {
      if (hanging) await new Promise<void>((resolve) => hung.push(resolve));
      done += 1;
      return { outcome: { kind: "done" }, healthy: true };
    },
  });
  const put = (count: number) =>
    queue.transact((tx) =>
      queue.add(
        tx,
        Array.from({ length: count }, (_, n) => ({
          ...{ key: `k${done}-${n}`, random: true, endpoint: "g", meta: "{}", body: Buffer.from("{}") },
        })),
      ),
    );
  worker.start();
  await put(20);
  await until(() => done === 20 && worker.out === 0, "it is well");
  hanging = true;
  await put(40);
  await until(() => hung.length === 4 && worker.out > 4, "four are under way, others wait");
  const stopped = worker.stop();
  await until(
    async () => (await queue.list()).filter(({ startedAt }) => startedAt !== null).length === 4,
    "given back",
  );
  for (const resolve of hung) resolve();
  await stopped;
  const left = await queue.list();
  assert.is(left.length, 36);
  assert.ok(left.every(({ attempts, firstAt, state }) => attempts === 0 && firstAt === null && state === "ready"));
  await queue.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

test.run();
