/** What an operator, or the end of a lease, takes back from a worker on every queue; part of `queueWorkerCase`. */
import * as assert from "uvu/assert";
import { createWorker, type Worker, type WorkerOptions } from "../../runtime/queue/worker.js";
import { queueWith } from "../support/queue-with.js";
import { until } from "../support/until.js";
import { end, take, workerOf } from "./queue-steps.js";
import { type Context, job, put, type QueueCase, queueSuite } from "./queue-suite.js";

interface Held {
  readonly worker: Worker;
  /** Keys of jobs whose attempt has begun. */
  readonly begun: string[];
  /** Ends the attempts that are under way. */
  readonly go: () => void;
  /** Whether jobs were still theirs when their attempts went on. */
  readonly live: boolean[];
}

/** A worker with two attempts under way at an endpoint that is well, and six jobs that wait for their turn. */
async function holding(context: Context, over: Partial<WorkerOptions> = {}): Promise<Held> {
  const [begun, live]: [string[], boolean[]] = [[], []];
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const worker = createWorker({
    ...{ queue: context.queue, longestDelayMs: 4_000_000, now: () => context.clock.at, pollMs: 10, perEndpoint: 2 },
    onFault: (error) => assert.unreachable(String(error)),
    handle: async ({ key }, lease) => {
      begun.push(key);
      await gate.promise;
      live.push(lease.live());
      if (!lease.live()) return { outcome: { kind: "released", due: context.clock.at }, healthy: null };
      return { outcome: { kind: "done" }, healthy: true };
    },
    ...over,
  });
  await put(context.queue, job(), job());
  worker.start();
  await until(async () => begun.length === 2 && (await context.queue.counts()).ready === 0 && worker.out === 0);
  gate = Promise.withResolvers<void>();
  await put(context.queue, ...Array.from({ length: 8 }, (_, at) => job({ key: `k${at}` })));
  await until(() => begun.length === 4 && worker.out === 8, "two are under way, six wait");
  [begun.length, live.length] = [0, 0];
  return { worker, begun, live, go: () => gate.resolve() };
}

const waitingIn = async ({ queue }: Context): Promise<string[]> =>
  (await queue.list()).filter(({ startedAt }) => startedAt === null).map(({ key }) => key);

/** A worker whose attempts all fail, and are told to come back in an hour. @param hung when that of the job `hangs` ends */
function refusing(
  context: Context,
  hung?: Promise<void>,
): { readonly worker: Worker; readonly begun: readonly string[] } {
  const begun: string[] = [];
  const worker = workerOf(context, {
    handle: async ({ key }) => {
      begun.push(key);
      if (key === "hangs") await hung;
      const [due, holdUntil] = [context.clock.at + 1_000_000, context.clock.at + 3_600_000];
      return { outcome: { kind: "later", due, error: "HTTP 503" }, healthy: false, holdUntil };
    },
  });
  return { worker, begun };
}

function resumedCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("what was learnt before an operator resumes an endpoint, and is still being written, holds it no more", async (context) => {
    const { queue } = context;
    let pausing = 0;
    const gate = Promise.withResolvers<void>();
    const slow = queueWith(queue, {
      async pause(...given) {
        pausing += 1;
        await gate.promise;
        return queue.pause(...given);
      },
    });
    const { worker, begun } = refusing({ ...context, queue: slow });
    await put(queue, job({ key: "first" }));
    worker.start();
    await until(() => pausing === 1 && worker.out === 0, "that it asked to be left alone is being written");
    const resumed = worker.resume("a");
    gate.resolve();
    assert.ok(await resumed);
    await put(queue, job({ key: "second" }));
    await until(() => begun.length === 2, "the next one is sent");
    await worker.stop();
  });

  test("what an operator resumes is begun here though no note of its pause is left", async (context) => {
    const { queue, clock } = context;
    const { worker, begun } = refusing(context);
    await put(queue, job({ key: "first" }));
    worker.start();
    await until(async () => (await queue.health("a")).pausedUntil > clock.at);
    assert.ok(await queue.resume("a"), "by another instance");
    assert.ok(await worker.resume("a"));
    assert.not.ok(await worker.resume("a"));
    await put(queue, job({ key: "second" }));
    await until(() => begun.length === 2, "the next one is sent");
    await worker.stop();
  });

  test.run();
}

async function resumedUnderWay(context: Context, where: "here" | "elsewhere"): Promise<void> {
  const { queue, clock } = context;
  const gate = Promise.withResolvers<void>();
  const { worker, begun } = refusing(context, gate.promise);
  await put(queue, job({ key: "hangs" }));
  worker.start();
  await until(() => begun.length === 1, "one is under way");
  const other = await context.other();
  await other.pause("a", { pausedUntil: clock.at + 3_600_000, failingSince: clock.at, began: clock.at });
  clock.at += 1_000;
  assert.ok(await (where === "here" ? worker : other).resume("a"));
  gate.resolve();
  await until(() => worker.out === 0, "it has failed");
  assert.equal(await queue.health("a"), { pausedUntil: 0, failingSince: null });
  if (where === "here") {
    await put(queue, job({ key: "next" }));
    await until(() => begun.length === 2, "the next one is sent");
    await until(async () => (await queue.health("a")).pausedUntil > clock.at, "it asked to be left alone again");
  }
  await worker.stop();
}

function lateCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("what an attempt teaches that began before an operator resumed its endpoint is noted nowhere, and what comes after it is", async (context) => {
    const { queue, clock } = context;
    const hour = 3_600_000;
    const bad = { pausedUntil: clock.at + hour, failingSince: clock.at };
    await queue.pause("a", { ...bad, began: clock.at });
    await queue.stop("a", clock.at);
    clock.at += 10_000;
    assert.ok(await queue.resume("a"));
    assert.not.ok(await queue.resume("a"), "nothing is noted of it");
    const other = await context.other();
    await other.pause("a", { ...bad, began: clock.at - 1 });
    assert.equal(await queue.health("a"), { pausedUntil: 0, failingSince: null });
    // One that is well is told of, and still what began before is nothing of it.
    await queue.recover("a", { until: 0, now: clock.at });
    await other.pause("a", { ...bad, began: clock.at - 1 });
    assert.equal(await queue.health("a"), { pausedUntil: 0, failingSince: null });
    // It fails since it was resumed, whatever another instance remembers.
    await other.pause("a", { ...bad, began: clock.at });
    assert.equal(await queue.health("a"), { pausedUntil: bad.pausedUntil, failingSince: clock.at });
    // To be left alone is not to fail.
    assert.ok(await queue.resume("a"));
    await other.pause("a", { pausedUntil: clock.at + hour, failingSince: null, began: clock.at });
    assert.equal(await queue.health("a"), { pausedUntil: clock.at + hour, failingSince: null });
  });

  test("after the clock was set back what is learnt of a resumed endpoint is noted", async ({ queue, clock }) => {
    await queue.stop("a", clock.at);
    assert.ok(await queue.resume("a"));
    clock.at -= 3_600_000;
    const bad = { pausedUntil: clock.at + 60_000, failingSince: clock.at };
    await queue.pause("a", { ...bad, began: clock.at });
    assert.equal(await queue.health("a"), { pausedUntil: 0, failingSince: null });
    await queue.pull(clock.at + 7_200_000, clock.at);
    await queue.pause("a", { ...bad, began: clock.at });
    assert.equal(await queue.health("a"), bad);
  });

  for (const where of ["here", "elsewhere"] as const)
    test(`an attempt that is under way as its endpoint is resumed ${where}, and fails, does not have it rest again`, (context) =>
      resumedUnderWay(context, where));

  test.run();
}

function forgottenCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("what an operator resumed, and has nothing that waits any more, is told nothing late either, but what is noted", async (context) => {
    const { queue, clock } = context;
    await queue.stop("a", clock.at);
    assert.ok(await queue.resume("a"));
    await put(queue, job());
    const taken = await take(queue, clock.at);
    await queue.ack(
      taken.map((one) => end(one, { kind: "done" })),
      clock.at,
    );
    assert.equal(await take(queue, clock.at), []);
    const bad = { pausedUntil: clock.at + 60_000, failingSince: clock.at };
    assert.equal(await queue.pause("a", { ...bad, began: clock.at - 1 }), { pausedUntil: 0, failingSince: null });
    assert.equal(await queue.pause("a", { ...bad, began: clock.at }), bad);
    assert.equal(await queue.pause("a", { ...bad, began: clock.at - 1 }), bad);
  });

  test.run();
}

function claimedCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("what is leased while an operator pauses its endpoint is not begun", async (context) => {
    const { queue, clock } = context;
    const gate = Promise.withResolvers<void>();
    let leased = 0;
    const slow = queueWith(queue, {
      async take(request) {
        const jobs = await queue.take(request);
        leased += jobs.length;
        if (jobs.length > 0) await gate.promise;
        return jobs;
      },
    });
    const begun: string[] = [];
    const worker = workerOf(
      { ...context, queue: slow },
      {
        handle: async ({ key }) => {
          begun.push(key);
          return { outcome: { kind: "done" }, healthy: true };
        },
      },
    );
    await put(queue, job({ key: "paused" }), job({ endpoint: "b", key: "other" }));
    worker.start();
    await until(() => leased === 2, "both are leased");
    await queue.stop("a", clock.at);
    worker.withdraw({ endpoint: "a" });
    gate.resolve();
    await until(async () => (await queue.counts()).ready === 1 && worker.out === 0, "one is sent, one given back");
    assert.equal(begun, ["other"]);
    await worker.stop();
    assert.equal(
      (await queue.list()).map(({ attempts, firstAt, startedAt }) => [attempts, firstAt, startedAt]),
      [[0, null, null]],
    );
  });

  test.run();
}

export function withdrawnCase(of: QueueCase): void {
  for (const cases of [resumedCase, lateCase, forgottenCase, claimedCase]) cases(of);
  const test = queueSuite(of);
  test("an endpoint that an operator pauses has nothing begun any more of what was leased ahead", async (context) => {
    const { worker, begun, live, go } = await holding(context);
    await context.queue.stop("a", context.clock.at);
    worker.withdraw({ endpoint: "a" });
    await until(async () => (await waitingIn(context)).length === 6, "six are given back");
    go();
    await until(() => worker.out === 0);
    assert.equal([begun, live], [[], [false, false]]);
    await worker.stop();
    assert.equal(
      (await context.queue.list()).map(({ attempts, firstAt }) => [attempts, firstAt]),
      Array(8).fill([0, null]),
    );
  });

  test("an endpoint that is paused by another process has nothing begun once leases are renewed", async (context) => {
    const { worker, begun, go } = await holding(context, { renewMs: 50 });
    await (await context.other()).stop("a", context.clock.at);
    await until(async () => (await waitingIn(context)).length === 6, "six are given back");
    go();
    await until(() => worker.out === 0);
    assert.equal(begun, []);
    await worker.stop();
    assert.is((await context.queue.counts()).ready, 8);
  });

  test("a job that an operator removes is not begun, and those that wait beside it are", async (context) => {
    const { worker, begun, go } = await holding(context, { renewMs: 50 });
    const last = (await context.queue.list()).at(-1)!;
    assert.ok(await context.queue.drop(last.id, context.clock.at));
    worker.withdraw({ job: last.id });
    go();
    await until(async () => (await context.queue.counts()).ready === 0 && worker.out === 0);
    await worker.stop();
    assert.is(begun.length, 5);
    assert.not.ok(begun.includes(last.key));
  });

  test("a job that a renewal finds to be somebody else's is not begun, nor any more live", async (context) => {
    const { worker, begun, live, go } = await holding(context, { renewMs: 50 });
    const other = await context.other();
    const all = await context.queue.list();
    for (const { id } of all.slice(0, 7)) assert.ok(await other.drop(id, context.clock.at));
    await until(() => worker.out === 3, "two are under way, and one waits");
    go();
    await until(async () => (await context.queue.counts()).ready === 0 && worker.out === 0);
    await worker.stop();
    assert.equal([begun, live.filter((one) => !one).length], [[all[7]!.key], 2]);
  });

  test.run();
}
