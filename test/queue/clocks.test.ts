/** Clocks of instances, of operators and of the server that are hours apart. */
import { setTimeout as pause } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { createWorker, openQueue, type WorkerOptions } from "../../runtime/queue/index.js";
import type { Job, JobOutcome, Queue } from "../../runtime/queue/types.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { end, keys } from "./queue-steps.js";
import { job, put } from "./queue-suite.js";

const HOURS = 7_200_000;
const postgres = await sharedPostgres();
let database: PostgresDatabase;
let queue: Queue;
/** Of somebody whose clock is ahead. */
let ahead: Queue;
const aheadNow = () => Date.now() + HOURS;

test.before.each(async () => {
  database = await openPostgres({ url: await postgres.database(), connections: 4 });
  queue = openQueue(database, "test");
  ahead = openQueue(database, "test", { now: aheadNow });
});
test.after.each(async () => {
  for (const one of [queue, ahead]) await one.close();
  await database.close();
});
test.after(() => postgres.stop());

const take = (of = queue, now = Date.now()) => of.take({ now, limit: 100, room: () => 100 });
/** So many, by and by: the clocks of two processes of one machine may be milliseconds apart as well. */
async function takeSoon(count: number): Promise<Job[]> {
  const taken: Job[] = [];
  await until(async () => taken.push(...(await take())) >= count);
  return taken;
}
const ack = (of: Queue, jobs: readonly Job[], outcome: JobOutcome, now: number) =>
  of.ack(
    jobs.map((one) => end(one, outcome)),
    now,
  );
const ended = () => database.query((q) => q.run("update adbind_jobs set state = 'expired'"));

test("what an operator sends again whose clock is ahead is sent now", async () => {
  await put(queue, job({ key: "alone" }), job({ key: "1", orderingKey: "t" }), job({ key: "2", orderingKey: "t" }));
  await ended();
  for (const { id } of await queue.list()) assert.ok(await ahead.replay(id, aheadNow()));
  const taken = await takeSoon(2);
  assert.equal(keys(taken), ["1", "alone"]);
  await ack(queue, taken, { kind: "later", due: Date.now() + HOURS / 2, error: "503" }, Date.now());
  const hastened = taken.map(({ id }) => ahead.adjust({ kind: "hasten", id }, aheadNow()));
  assert.equal(await Promise.all(hastened), [1, 1]);
  assert.equal(keys(await takeSoon(3)), ["1", "2", "alone"]);
});

test("what an endpoint does after an operator has resumed it whose clock is ahead is noted", async () => {
  await queue.stop("a", Date.now());
  assert.ok(await ahead.resume("a"));
  const at = Date.now() + 1_000;
  const noted = { pausedUntil: at + 60_000, failingSince: at };
  assert.equal(await queue.pause("a", { ...noted, began: at }), noted);
});

test("what an instance gives back or ends whose clock is ahead lets others go on now", async () => {
  await put(queue, ...["1", "2"].map((key) => job({ key, orderingKey: "t" })), job({ key: "given back" }));
  const taken = await take(ahead, aheadNow());
  assert.equal(keys(taken), ["1", "given back"]);
  const [first, back] = [taken.filter(({ key }) => key === "1"), taken.filter(({ key }) => key !== "1")];
  await ack(ahead, back, { kind: "released", due: aheadNow() }, aheadNow());
  await ack(ahead, first, { kind: "done" }, aheadNow());
  assert.equal(keys(await takeSoon(2)), ["2", "given back"]);
});

/** As a server leaves leases whose clock was ahead by hours, and is right now. */
const leaseAhead = () => database.query((q) => q.run("update adbind_jobs set lease_until = lease_until + ?", [HOURS]));

/** What a worker attempts with leases of a second, while something is done. */
async function working(short: Queue, handle: WorkerOptions["handle"], work: () => Promise<void>): Promise<void> {
  const worker = createWorker({ queue: short, now: Date.now, renewMs: 200, longestDelayMs: HOURS, handle });
  worker.start();
  try {
    await work();
  } finally {
    await worker.stop(0);
    await short.close();
  }
}
const done = { outcome: { kind: "done" }, healthy: true } as const;

test("what a dead worker held by a server's clock that was ahead is attempted within seconds of its being set right", async () => {
  const short = openQueue(database, "test", { leaseMs: 1_000 });
  await put(queue, ...["1", "2"].map((key) => job({ key, orderingKey: "t" })), job({ key: "alone" }));
  assert.equal(keys(await take(short)), ["1", "alone"]);
  const attempted: string[] = [];
  const handle = async ({ key }: Job) => {
    attempted.push(key);
    return done;
  };
  await working(short, handle, async () => {
    await leaseAhead();
    await until(() => attempted.length === 3);
  });
  assert.equal(attempted.sort(), ["1", "2", "alone"]);
});

test("a live worker keeps what it holds when the server's clock is set back, though others look", async () => {
  const other = openQueue(database, "test", { leaseMs: 2_500 });
  const ending = Promise.withResolvers<void>();
  const lives: boolean[] = [];
  const handle: WorkerOptions["handle"] = async (_, { live }) => {
    lives.push(live());
    await ending.promise;
    lives.push(live());
    return done;
  };
  await working(openQueue(database, "test", { leaseMs: 2_500 }), handle, async () => {
    await put(queue, job({ key: "held" }));
    await until(() => lives.length === 1);
    for (let time = 0; time < 60; time++) {
      if (time % 10 === 0) await leaseAhead();
      assert.equal(await take(other), []);
      await pause(50);
    }
    ending.resolve();
    await until(async () => (await queue.list()).length === 0);
  });
  assert.equal(lives, [true, true]);
  await other.close();
});

test.run();
