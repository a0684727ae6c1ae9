/** How jobs and leases end on every queue; part of `queueCase`. */
import * as assert from "uvu/assert";
import { waitingCaps } from "../../runtime/queue/waiting-caps.js";
import { end, keys, none, take } from "./queue-steps.js";
import { job, LEASE, NOW, put, type QueueCase, queueSuite } from "./queue-suite.js";
import { unwrittenCase } from "./queue-unwritten.case.js";

/** What is given up, and what is not. */
export function givingUpCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("an endpoint that failed for too long loses what was attempted long ago, and nothing else", async (context) => {
    const { queue, clock } = context;
    await put(queue, job({ key: "tried" }), job({ key: "out" }));
    const jobs = await take(queue, clock.at);
    const tried = jobs.find(({ key }) => key === "tried")!;
    await queue.ack([end(tried, { kind: "later", due: clock.at + 100, error: "503" })], clock.at);
    await put(queue, job({ key: "waits", orderingKey: "t" }), job({ key: "behind", orderingKey: "t" }));
    await queue.pause("a", { pausedUntil: clock.at + 900_000, failingSince: NOW, began: clock.at });
    clock.at += 1_000;
    assert.is(await queue.deadLetter("a", clock.at, "unreachable"), 1);
    assert.is(await queue.deadLetter("a", clock.at, "unreachable"), 0);
    const [dead] = await queue.list({ state: "dead" });
    assert.equal([dead!.key, dead!.error, dead!.attempts], ["tried", "unreachable; at last: 503", 1]);
    // What was never attempted has a time of its own, and is replayed like the others.
    assert.is(await queue.expire("a", NOW - 1, "waited"), 0);
    assert.is(await queue.expire("a", clock.at, "waited"), 2);
    assert.equal(await queue.counts(), { ready: 1, dead: 1, expired: 2, refused: 0 });
    const [expired] = await queue.list({ state: "expired" });
    assert.ok(await queue.replay(expired!.id, clock.at));
    await queue.recover("a", { until: 0, now: clock.at });
    assert.ok(keys(await take(queue, clock.at)).includes("waits"));
  });

  test.run();
}

/** What waits is capped. */
export function waitingCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("what waits too long, or is too much, expires wherever it is: but for its age not where an operator paused it", async (context) => {
    const { queue, clock } = context;
    const told: string[] = [];
    const capped = () =>
      waitingCaps({
        ...{ queue, expireMs: 5_000, keep: 2, now: () => clock.at },
        onExpired: (endpoint, count) => told.push(`${endpoint} ${count}`),
      }).run(new AbortController().signal);
    for (const endpoint of ["stopped", "many", "old"]) await put(queue, job({ endpoint, key: `${endpoint} 1` }));
    const more = ["2", "3", "4"].map((n) => job({ endpoint: "many", key: `many ${n}`, orderingKey: "t" }));
    await put(queue, ...more);
    await queue.stop("stopped", clock.at);
    clock.at += 4_000;
    await put(queue, job({ endpoint: "old", key: "young" }));
    await capped();
    assert.equal(told.splice(0), ["many 2"]);
    clock.at += 1_000;
    await capped();
    assert.equal(told, ["many 2", "old 1"]);
    assert.equal((await queue.list({ state: "expired" })).map(({ key }) => key).sort(), [
      "many 1",
      "many 2",
      "many 3",
      "many 4",
      "old 1",
    ]);
    assert.equal(keys(await take(queue, clock.at)), ["young"]);
    assert.ok(await queue.resume("stopped"));
    assert.equal(keys(await take(queue, clock.at)), ["stopped 1"]);
  });

  test("what is too much while all of it is held is looked for again soon", async ({ queue, clock }) => {
    const told: number[] = [];
    const caps = waitingCaps({
      ...{ queue, expireMs: 5_000, keep: 1, heldLookMs: 0, now: () => clock.at },
      onExpired: (_, count) => told.push(count),
    });
    const run = () => caps.run(new AbortController().signal);
    await put(queue, job(), job(), job());
    const held = await take(queue, clock.at);
    await run();
    assert.equal(told, []);
    await queue.ack(
      held.map((one) => end(one, { kind: "released", due: clock.at })),
      clock.at,
    );
    await run();
    assert.equal(told, [2]);
    // With nothing too much there is no look for a while.
    await put(queue, job());
    await run();
    assert.equal(told, [2]);
  });

  test.run();
  unwrittenCase(of);
  resumedCase(of);
}

/** What waited while an operator had it paused. */
function resumedCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("what waited for long at an endpoint that an operator had paused has its whole time from when he resumed it", async (context) => {
    const { queue, clock } = context;
    const told: string[] = [];
    const capped = () =>
      waitingCaps({
        ...{ queue, expireMs: 500_000, keep: 9, now: () => clock.at },
        onExpired: (endpoint, count, state) => told.push(`${endpoint} ${count} ${state}`),
      }).run(new AbortController().signal);
    await put(queue, job({ key: "tried" }), job({ key: "waits", due: clock.at + 1 }));
    const [tried] = await take(queue, clock.at);
    await queue.ack([end(tried!, { kind: "later", due: clock.at, error: "503" })], clock.at);
    await queue.stop("a", clock.at);
    clock.at += 900_000;
    assert.ok(await queue.resume("a"));
    await capped();
    clock.at += 400_000;
    // It is well, and there is much.
    await queue.recover("a", { until: 0, now: clock.at });
    await capped();
    assert.equal(told, []);
    clock.at += 100_000;
    await capped();
    assert.equal(told, ["a 1 expired", "a 1 dead"]);
  });

  test.run();
}

/** What those behind it come to. */
export function lettingGoCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("what expires lets those behind it go", async ({ queue, clock }) => {
    await put(queue, job({ key: "1", orderingKey: "t" }));
    clock.at += 1_000;
    await put(queue, job({ key: "2", orderingKey: "t", endpoint: "b" }));
    await queue.pause("a", { pausedUntil: clock.at + 900_000, failingSince: NOW, began: clock.at });
    assert.equal(await take(queue, clock.at), []);
    assert.is(await queue.expire("a", NOW, "waited"), 1);
    assert.equal(keys(await take(queue, clock.at)), ["2"]);
  });

  test.run();
}

/** What is kept for a person. */
export function asideCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("what a killed worker left in such an endpoint is given up once it is nobody's", async (context) => {
    const { queue, clock } = context;
    const doomed = await context.other();
    await put(queue, job({ key: "left" }));
    const [first] = await take(doomed, clock.at);
    await doomed.ack([end(first!, { kind: "later", due: clock.at, error: "503" })], clock.at);
    await take(doomed, clock.at);
    await doomed.close();
    await queue.pause("a", { pausedUntil: clock.at + 3_600_000, failingSince: NOW, began: clock.at });
    assert.is(await queue.deadLetter("a", clock.at, "unreachable"), 0);
    await of.pass(clock, LEASE + 100);
    assert.is(await queue.deadLetter("a", clock.at, "unreachable"), 1);
  });

  test("what cannot be read or carried out is set aside with its reason, and the next goes on", async (context) => {
    const { queue, clock } = context;
    await put(queue, job({ key: "bad", orderingKey: "t" }), job({ key: "good", orderingKey: "t" }));
    const [bad] = await take(queue, clock.at);
    await queue.ack([end(bad!, { kind: "refused", error: "no JSON" })], clock.at);
    const [aside] = await queue.list({ state: "refused" });
    assert.equal([aside!.key, aside!.error, aside!.attempts, aside!.firstAt], ["bad", "no JSON", 0, null]);
    assert.equal(keys(await take(queue, clock.at)), ["good"]);
    assert.equal(await queue.counts(), { ...none, ready: 1, refused: 1 });
  });

  test("a dead job is listed, replayed with a new life, or dropped", async ({ queue, clock }) => {
    await put(queue, job({ key: "1" }), job({ key: "2" }));
    const jobs = await take(queue, clock.at);
    const acks = jobs.map((one) => ({ job: one, outcome: { kind: "dead", error: "over" } }) as const);
    await queue.ack(acks, clock.at);
    const dead = await queue.list({ state: "dead" });
    assert.is(dead.length, 2);
    clock.at += 5;
    assert.ok(await queue.replay(dead[0]!.id, clock.at));
    assert.not(await queue.replay(dead[0]!.id, clock.at));
    assert.ok(await queue.drop(dead[1]!.id, clock.at));
    assert.not(await queue.drop(dead[1]!.id, clock.at));
    const [again] = await take(queue, clock.at);
    assert.is(again!.key, dead[0]!.key);
    assert.is(again!.firstAt, clock.at);
  });

  test.run();
}

/** Leases and tokens. */
export function leaseCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("a worker that is killed loses its jobs to the next, one that lives keeps them", async (context) => {
    const { queue, clock } = context;
    const doomed = await context.other();
    await put(queue, job({ key: "doomed" }));
    const lost = await take(doomed, clock.at);
    assert.equal(keys(lost), ["doomed"]);
    await put(queue, job({ key: "kept" }));
    const kept = await take(queue, clock.at);
    const found: string[] = [];
    for (let passed = 0; passed <= LEASE; passed += LEASE / 4) {
      await of.pass(clock, LEASE / 4);
      assert.equal([...(await queue.renew(kept, clock.at))], [kept[0]!.id]);
      found.push(...keys(await take(queue, clock.at)));
    }
    assert.equal(found, ["doomed"]);
    assert.equal(await queue.ack([end(kept[0]!, { kind: "done" })], clock.at), [true]);
    // Its token is another's now: nothing of it counts any more.
    assert.equal([...(await doomed.renew(lost, clock.at))], []);
    assert.equal(await doomed.ack([end(lost[0]!, { kind: "done" })], clock.at), [false]);
    assert.is((await queue.counts()).ready, 1);
  });

  test.run();
}

/** Endpoints that move. */
export function movingCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("a job that moved to another endpoint takes along what waits under its key, and nobody's pause", async (context) => {
    const { queue, clock } = context;
    await put(
      queue,
      job({ key: "first", orderingKey: "t" }),
      job({ key: "second", orderingKey: "t" }),
      job({ key: "b" }),
    );
    const [first] = (await take(queue, clock.at)).filter(({ key }) => key === "first");
    await queue.pause("a", { pausedUntil: clock.at + 900_000, failingSince: clock.at, began: clock.at });
    await queue.ack([end(first!, { kind: "released", due: clock.at, endpoint: "new" })], clock.at);
    const places = (await queue.list()).map(({ key, endpoint, attempts }) => [key, endpoint, attempts]);
    assert.equal(places, [
      ["first", "new", 0],
      ["second", "new", 0],
      ["b", "a", 0],
    ]);
    const again = await take(queue, clock.at);
    assert.equal(keys(again), ["first"]);
    await queue.ack([end(again[0]!, { kind: "done" })], clock.at);
    assert.equal(keys(await take(queue, clock.at)), ["second"]);
  });

  test.run();
}
