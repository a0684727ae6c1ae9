/** What every queue must do: one body, run against each engine. */
import * as assert from "uvu/assert";
import { BEHIND_DUE_MS } from "../../runtime/queue/jobs.js";
import { asideCase, givingUpCase, leaseCase, lettingGoCase, movingCase, waitingCase } from "./queue-ends.case.js";
import { expiringCase, keptJobsCase, orderedReplayCase, replayedCase } from "./queue-kept.case.js";
import { roomCase } from "./queue-room.case.js";
import { end, keys, take } from "./queue-steps.js";
import { job, NOW, put, type QueueCase, queueSuite, record, recorded } from "./queue-suite.js";

/** Jobs come with the writes of their transaction, once. */
function addingCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("a job is added with the caller's own writes, or not at all", async ({ queue, clock, database }) => {
    await queue.transact(function* (q) {
      yield* queue.add(q, [job({ key: "kept" })]);
      yield* record(q, "row");
    });
    const failing = queue.transact(function* (q) {
      yield* queue.add(q, [job({ key: "undone" })]);
      yield* record(q, "undone");
      throw new Error("rolled back");
    });
    assert.is(await failing.catch((error: Error) => error.message), "rolled back");
    assert.equal(await recorded(database), ["row"]);
    assert.equal(keys(await take(queue, clock.at)), ["kept"]);
  });

  test("a key is taken once in a topic", async ({ queue }) => {
    await put(queue, job({ key: "same" }));
    let refused = false;
    await put(queue, job({ key: "same" })).catch(() => {
      refused = true;
    });
    assert.ok(refused);
    assert.is((await queue.list()).length, 1);
  });

  test("what is out is not taken again, by this instance or another, and is acknowledged once", async (context) => {
    const { queue, clock } = context;
    const other = await context.other();
    await put(queue, ...Array.from({ length: 40 }, () => job()));
    const [mine, theirs] = await Promise.all([take(queue, clock.at, 20), take(other, clock.at, 20)]);
    assert.is(new Set([...keys(mine), ...keys(theirs)]).size, 40);
    assert.is((await take(queue, clock.at)).length, 0);
    const acked = await queue.ack(
      mine.map((one) => ({ job: one, outcome: { kind: "done" } })),
      clock.at,
    );
    assert.ok(acked.every((held) => held));
    assert.equal(await queue.ack([{ job: mine[0]!, outcome: { kind: "done" } }], clock.at), [false]);
    assert.is((await queue.counts()).ready, 20);
  });

  test("what is under way is told by its ordering key, with what is known of it, and nothing that waits", async (context) => {
    const { queue, clock } = context;
    const other = await context.other();
    await put(queue, job({ key: "out", orderingKey: "a", meta: '{"n":1}' }), job({ key: "else", orderingKey: "c" }));
    await take(queue, clock.at);
    await put(queue, job({ key: "waits", orderingKey: "b" }), job({ key: "behind", orderingKey: "a" }));
    const found = await other.read((q) => other.underWay(q, ["a", "b"]));
    assert.equal(
      found.map(({ key, attempts, startedAt, meta }) => ({ key, attempts, startedAt, meta })),
      [{ key: "out", attempts: 0, startedAt: clock.at, meta: '{"n":1}' }],
    );
    assert.equal(await queue.read((q) => queue.underWay(q, [])), []);
  });

  test.run();
}

/** Whatever a body is made of. */
function bodyCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("bodies come back byte for byte, whatever is in them, alone and many at once", async ({ queue, clock }) => {
    const texts = ["", "\0", ",\u001e,", `{"a":"\u00e9, b"}`, "{}".repeat(900)];
    const bytes = [Array.from({ length: 256 }, (_, byte) => byte), Array<number>(5_000).fill(255)];
    const bodies = [
      ...texts,
      ...[...texts.map((text) => [...Buffer.from(text)]), ...bytes].map((one) => Uint8Array.from(one)),
    ];
    for (const [at, body] of bodies.entries()) await put(queue, job({ key: `alone ${at}`, body }));
    await put(queue, ...bodies.map((body, at) => job({ key: `together ${at}`, body })));
    const taken = new Map((await take(queue, clock.at)).map(({ key, body }) => [key, Buffer.from(body)]));
    for (const [at, body] of bodies.entries())
      for (const how of ["alone", "together"])
        assert.ok(taken.get(`${how} ${at}`)?.equals(Buffer.from(body as string)), `${how} ${at}`);
  });

  test.run();
}

/** What becomes of a leased job. */
function outcomeCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("an effect commits with what it acknowledges, and sees only what took effect", async (context) => {
    const { queue, clock, database } = context;
    await put(queue, job({ key: "one" }), job({ key: "two" }));
    const jobs = await take(queue, clock.at);
    await queue.ack([end(jobs[0]!, { kind: "done" })], clock.at);
    const seen: number[] = [];
    await queue.ack(
      jobs.map((one) => end(one, { kind: "done" })),
      clock.at,
      function* (q, acked) {
        seen.push(acked.length);
        yield* record(q, "effect");
      },
    );
    assert.equal(seen, [1]);
    assert.equal(await recorded(database), ["effect"]);
  });

  test("a failed attempt comes back at its time with its count and its reason", async ({ queue, clock }) => {
    await put(queue, job());
    const [first] = await take(queue, clock.at);
    await queue.ack([{ job: first!, outcome: { kind: "later", due: clock.at + 5_000, error: "503" } }], clock.at);
    assert.is((await take(queue, clock.at + 4_999)).length, 0);
    clock.at += 5_000;
    const [second] = await take(queue, clock.at);
    assert.is(second!.attempts, 1);
    assert.is(second!.error, "503");
    assert.is(second!.firstAt, NOW);
    assert.is(second!.startedAt, NOW + 5_000);
  });

  test("a job given back has not been attempted", async ({ queue, clock }) => {
    await put(queue, job());
    const [first] = await take(queue, clock.at);
    await queue.ack([{ job: first!, outcome: { kind: "released", due: clock.at + 10 } }], clock.at);
    clock.at += 10;
    const [second] = await take(queue, clock.at);
    assert.is(second!.attempts, 0);
    assert.is(second!.firstAt, NOW + 10);
  });

  test.run();
}

/** Order under a key. */
function orderCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("jobs under one ordering key are attempted one after the other, retries let the next go first", async ({
    queue,
    clock,
  }) => {
    await put(
      queue,
      job({ key: "1", orderingKey: "t" }),
      job({ key: "2", orderingKey: "t" }),
      job({ key: "3", orderingKey: "t", endpoint: "b" }),
    );
    const [first, ...none] = await take(queue, clock.at);
    assert.is(first!.key, "1");
    assert.equal(none, []);
    await queue.ack([{ job: first!, outcome: { kind: "later", due: clock.at + 60_000, error: "x" } }], clock.at);
    clock.at += 2_000;
    const second = await take(queue, clock.at);
    assert.equal(keys(second), ["2"]);
    await queue.ack([{ job: second[0]!, outcome: { kind: "dead", error: "x" } }], clock.at);
    clock.at += 2_000;
    assert.equal(keys(await take(queue, clock.at)), ["3"]);
  });

  test("dropping the first under an ordering key lets the next go", async ({ queue, clock }) => {
    await put(queue, job({ key: "1", orderingKey: "t" }), job({ key: "2", orderingKey: "t" }));
    const [listed] = await queue.list();
    assert.ok(await queue.drop(listed!.id, clock.at));
    clock.at += 2_000;
    assert.equal(keys(await take(queue, clock.at)), ["2"]);
  });

  test("after the clock was set back nothing waits for a time that is far off", async ({ queue, clock }) => {
    await put(queue, job({ key: "1", orderingKey: "t" }), job({ orderingKey: "t" }));
    const [first] = await take(queue, clock.at);
    await queue.ack([{ job: first!, outcome: { kind: "released", due: clock.at + 86_400_000 } }], clock.at);
    await queue.pause("a", { pausedUntil: clock.at + 86_400_000, failingSince: clock.at, began: clock.at });
    await queue.pull(clock.at + 7_200_000, clock.at);
    assert.equal(keys(await take(queue, clock.at)), ["1"]);
    assert.ok((await queue.list()).every((one) => one.due < clock.at + 86_400_000 || one.due === BEHIND_DUE_MS));
  });

  test.run();
}

/** Endpoints share turns. */
function endpointCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("turns are shared out: a backlog of one endpoint leaves room for the others", async ({ queue, clock }) => {
    await put(queue, ...Array.from({ length: 300 }, () => job({ endpoint: "flood" })));
    await put(queue, job({ key: "small", endpoint: "small" }));
    const out = new Map<string, number>();
    const room = (endpoint: string) => 4 - (out.get(endpoint) ?? 0);
    const endpoints: string[] = [];
    for (let round = 0; round < 4; round++) {
      for (const one of await take(queue, clock.at, 64, room)) {
        out.set(one.endpoint, (out.get(one.endpoint) ?? 0) + 1);
        endpoints.push(one.endpoint);
      }
      clock.at += 200;
    }
    assert.is(endpoints.filter((endpoint) => endpoint === "small").length, 1);
    assert.is(endpoints.filter((endpoint) => endpoint === "flood").length, 4);
  });

  test("a paused endpoint waits, for every instance, and goes on where it was", async (context) => {
    const { queue, clock } = context;
    const other = await context.other();
    await put(queue, job({ key: "1" }), job({ key: "b", endpoint: "b" }));
    await queue.pause("a", { pausedUntil: clock.at + 1_000, failingSince: clock.at, began: clock.at });
    await put(other, job({ key: "2" }));
    assert.equal(keys(await take(other, clock.at)), ["b"]);
    assert.equal(await other.health("a"), { pausedUntil: clock.at + 1_000, failingSince: NOW });
    clock.at += 1_000;
    assert.equal(keys(await take(other, clock.at)), ["1", "2"]);
  });

  test.run();
}

/** How endpoints are is noted. */
function healthCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("of two that note how an endpoint is the longer pause stands, and the earlier failure", async (context) => {
    const { queue, clock } = context;
    const other = await context.other();
    await queue.pause("a", { pausedUntil: clock.at + 5_000, failingSince: null, began: clock.at });
    const noted = await other.pause("a", {
      ...{ pausedUntil: clock.at + 1_000, failingSince: clock.at - 7, began: clock.at },
    });
    assert.equal(noted, { pausedUntil: clock.at + 5_000, failingSince: clock.at - 7 });
    assert.equal(await queue.pause("a", { pausedUntil: 0, failingSince: clock.at, began: clock.at }), noted);
    assert.equal(await queue.pause("a", { pausedUntil: 0, failingSince: null, began: clock.at }), noted);
    assert.equal(await other.health("a"), noted);
  });

  test("a recovery shortens a pause and never makes one longer, nor one that an operator has ended", async (context) => {
    const { queue, clock } = context;
    await put(queue, job({ key: "1" }));
    await queue.pause("a", { pausedUntil: clock.at + 5_000, failingSince: clock.at, began: clock.at });
    await queue.recover("a", { until: clock.at + 3_000, now: clock.at });
    assert.equal(await queue.health("a"), { pausedUntil: clock.at + 3_000, failingSince: null });
    await queue.recover("a", { until: clock.at + 90_000, now: clock.at });
    assert.equal(await queue.health("a"), { pausedUntil: clock.at + 3_000, failingSince: null });
    assert.equal(await take(queue, clock.at), []);
    assert.ok(await queue.resume("a"));
    await queue.recover("a", { until: clock.at + 90_000, now: clock.at });
    assert.equal(await queue.health("a"), { pausedUntil: 0, failingSince: null });
    assert.equal(keys(await take(queue, clock.at)), ["1"]);
  });

  test("a recovery leaves alone what an operator has paused", async (context) => {
    const { queue, clock } = context;
    await put(queue, job({ key: "1" }));
    await queue.stop("a", clock.at);
    await queue.pause("a", { pausedUntil: clock.at + 5_000, failingSince: clock.at, began: clock.at });
    await queue.recover("a", { until: 0, now: clock.at });
    assert.equal(await queue.health("a"), { pausedUntil: 0, failingSince: null });
    assert.equal(await take(queue, clock.at), []);
  });

  test("an endpoint is found however many others have more, and none is found twice before all were", async (context) => {
    const { queue, clock } = context;
    const names = Array.from({ length: 300 }, (_, at) => `e${String(at).padStart(3, "0")}`);
    await put(queue, ...names.flatMap((endpoint) => [job({ endpoint }), job({ endpoint })]));
    const seen: string[] = [];
    for (let round = 0; round < 10; round++) {
      clock.at += 1;
      const jobs = await take(queue, clock.at, 60, () => 1);
      seen.push(...jobs.map(({ endpoint }) => endpoint));
    }
    assert.is(seen.length, 600);
    assert.equal([...seen.slice(0, 300)].sort(), names);
    assert.equal([...seen.slice(300)].sort(), names);
  });

  test.run();
}

export function queueCase(of: QueueCase): void {
  for (const cases of [
    addingCase,
    bodyCase,
    outcomeCase,
    orderCase,
    endpointCase,
    healthCase,
    givingUpCase,
    waitingCase,
    keptJobsCase,
    roomCase,
    movingCase,
    expiringCase,
    replayedCase,
    orderedReplayCase,
    lettingGoCase,
    asideCase,
    leaseCase,
  ])
    cases(of);
}
