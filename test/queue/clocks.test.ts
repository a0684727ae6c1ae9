/** Clocks of instances, of operators and of the server that are hours apart. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import type { Job, JobOutcome, Queue } from "../../runtime/queue/types.js";
import { sharedPostgres } from "../support/postgres.js";
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
  const taken = await take();
  assert.equal(keys(taken), ["1", "alone"]);
  await ack(queue, taken, { kind: "later", due: Date.now() + HOURS / 2, error: "503" }, Date.now());
  const hastened = taken.map(({ id }) => ahead.adjust({ kind: "hasten", id }, aheadNow()));
  assert.equal(await Promise.all(hastened), [1, 1]);
  assert.equal(keys(await take()), ["1", "2", "alone"]);
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
  assert.equal(keys(await take()), ["2", "given back"]);
});

test.run();
