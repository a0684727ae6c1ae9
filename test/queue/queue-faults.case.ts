/** What a worker does where something throws: its handler, or what writes down what an attempt came to. */
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { until } from "../support/until.js";
import { deletedCase } from "./deleted.case.js";
import { delivered, none, workerOf } from "./queue-steps.js";
import { job, put, type QueueCase, queueSuite } from "./queue-suite.js";

const DAY_MS = 86_400_000;
/** Handlers that throw. */
function throwingCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("a handler that cannot read its job says so, and the job is set aside", async (context) => {
    let handled = 0;
    const worker = workerOf(context, {
      handle: async ({ meta }) => {
        handled += 1;
        if (meta === "?") throw new AdbindError("job_unreadable", "its meta is no JSON");
        return delivered;
      },
    });
    await put(context.queue, job({ meta: "?" }), job());
    worker.start();
    await until(() => handled === 2 && worker.out === 0);
    await worker.stop();
    assert.equal(await context.queue.counts(), { ...none, refused: 1 });
    assert.match((await context.queue.list())[0]!.error!, "its meta is no JSON");
  });

  test("a handler that throws is reported, and its job is tried again", async (context) => {
    const faults: unknown[] = [];
    let calls = 0;
    const worker = workerOf(context, {
      onFault: (error) => faults.push(error),
      handle: async () => {
        calls += 1;
        if (calls === 1) throw new Error("ours");
        return delivered;
      },
    });
    await put(context.queue, job());
    worker.start();
    await until(() => calls === 1 && worker.out === 0);
    context.clock.at += 10_001;
    await until(() => calls === 2 && worker.out === 0);
    await worker.stop();
    assert.is(faults.length, 1);
  });

  test.run();
}

/** Listeners that fail. */
function listeningCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("a listener that rejects ends nothing", async (context) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    let told = 0;
    const worker = workerOf(context, {
      onFault: async () => {
        told += 1;
        throw new Error("the listener's own");
      },
      handle: async () => {
        throw new Error("ours");
      },
    });
    await put(context.queue, job());
    worker.start();
    await until(() => told > 0 && worker.out === 0);
    await worker.stop();
    process.off("unhandledRejection", note);
    assert.equal(unhandled, []);
  });

  test.run();
}

/** Handlers that throw for ever. */
function brokenCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("a job whose handler throws again and again is given up after its time, and the others go on", async (context) => {
    const given: unknown[] = [];
    let [thrown, done] = [0, 0];
    const worker = workerOf(context, {
      giveUpMs: DAY_MS,
      onGivenUp: (...told) => given.push(told),
      handle: async ({ meta }) => {
        if (meta !== "broken") done += 1;
        else throw new Error(`ours ${++thrown}`);
        return delivered;
      },
    });
    await put(context.queue, job({ meta: "broken", endpoint: "a" }));
    worker.start();
    await until(() => thrown === 1 && worker.out === 0);
    context.clock.at += DAY_MS - 1;
    await until(() => thrown === 2 && worker.out === 0);
    assert.equal(await context.queue.counts(), { ...none, ready: 1 });
    context.clock.at += 10_000;
    await put(context.queue, job({ endpoint: "a" }));
    await until(() => thrown === 3 && done === 1 && worker.out === 0);
    await worker.stop();
    assert.equal(await context.queue.counts(), { ...none, dead: 1 });
    assert.equal(given, [["a", 1, "dead"]]);
  });

  test.run();
}

/** Acknowledgements that cannot be written. */
function unwrittenCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("an acknowledgement that cannot be written keeps no other job's from being written", async (context) => {
    const faults: unknown[] = [];
    const worker = workerOf(context, {
      onFault: (error) => faults.push(error),
      handle: async () => delivered,
      effect: function* (_, acked) {
        if (acked.some((ack) => ack.job.meta === "broken")) throw new Error("ours\0");
        yield* [];
      },
    });
    const others = (name: string) => Array.from({ length: 6 }, (_, at) => job({ endpoint: `${name}${at}` }));
    await put(context.queue, ...others("a"), job({ meta: "broken", endpoint: "x" }), ...others("b"));
    worker.start();
    await until(async () => faults.length > 0 && (await context.queue.counts()).ready === 1);
    // Nobody waits until it is tried again.
    let rounds = 0;
    for (; faults.length === 1; rounds++) {
      await put(context.queue, ...others("c"));
      await until(() => worker.out === 1);
    }
    assert.ok(rounds > 2, `${rounds} rounds of others before it was tried again`);
    // And it is not tried for ever.
    await until(() => worker.out === 0);
    await worker.stop();
    assert.equal(await context.queue.counts(), { ...none, refused: 1 });
    const [kept] = await context.queue.list();
    assert.is(kept!.error, "its attempt ended (done), and what is kept of it cannot be written: ours");
  });

  test("an error with a NUL in it is an error like any other", async (context) => {
    const attempts: number[] = [];
    const worker = workerOf(context, {
      handle: async ({ attempts: made }) => {
        attempts.push(made);
        return made > 0 ? delivered : { outcome: { kind: "later", due: 0, error: "no\0t yet" }, healthy: null };
      },
    });
    await put(context.queue, job());
    worker.start();
    await until(() => attempts.length === 2 && worker.out === 0);
    await worker.stop();
    assert.equal(await context.queue.counts(), none);
  });

  test.run();
}

/** Acknowledgements that cannot be written now. */
function unwrittenYetCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("nothing is set aside for what is no fault of its own, however often it is met", async (context) => {
    let [tries, away] = [0, true];
    const worker = workerOf(context, {
      onFault: () => undefined,
      handle: async () => delivered,
      effect: function* () {
        tries += 1;
        // Of no kind that is known; then as a driver tells of a server that is away.
        if (away && tries === 1) throw Object.assign(new Error("ours"), { code: "EOURS" });
        if (away) throw new Error("Connection terminated unexpectedly");
        yield* [];
      },
    });
    await put(context.queue, job());
    worker.start();
    // By then what is its own fault would have been set aside.
    await until(() => tries === 5);
    away = false;
    await until(() => worker.out === 0);
    await worker.stop();
    assert.equal(await context.queue.counts(), none);
  });

  test("a worker that stops gives up what cannot be written", async (context) => {
    const faults: unknown[] = [];
    const worker = workerOf(context, {
      onFault: (error) => faults.push(error),
      handle: async () => delivered,
      effect: () => {
        throw new Error("ours");
      },
    });
    await put(context.queue, job());
    worker.start();
    await until(() => faults.length > 0);
    await worker.stop();
    assert.equal(await context.queue.counts(), { ...none, ready: 1 });
  });

  test.run();
}

export function queueFaultsCase(of: QueueCase): void {
  for (const cases of [throwingCase, listeningCase, brokenCase, unwrittenCase, unwrittenYetCase]) cases(of);
  deletedCase(of);
}
