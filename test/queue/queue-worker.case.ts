/** What a worker must do on every queue: one body, run against each engine. */

import * as assert from "uvu/assert";
import { Looks } from "../support/looks.js";
import { until } from "../support/until.js";
import { delivered, none, workerOf } from "./queue-steps.js";
import { type Context, job, LEASE, NOW, put, type QueueCase, queueSuite } from "./queue-suite.js";
import { restartCase } from "./restarts.case.js";
import { withdrawnCase } from "./withdrawn.case.js";

/** A worker, and how to wait until it has looked for jobs anew. */
function lookingWorkerOf(context: Context, over: Parameters<typeof workerOf>[1]) {
  const looks = new Looks();
  const queue = looks.of(context.queue);
  return { worker: workerOf({ ...context, queue }, over), looked: () => looks.passed() };
}

/** Work is shared out. */
function sharingCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("a worker drains what is added while it runs, each job once", async (context) => {
    const seen: string[] = [];
    const worker = workerOf(context, {
      handle: async ({ key }) => {
        seen.push(key);
        return delivered;
      },
    });
    worker.start();
    const added = Array.from({ length: 200 }, (_, index) =>
      job({ endpoint: `g${index % 7}`, orderingKey: `l${index % 20}` }),
    );
    for (let at = 0; at < added.length; at += 20) await put(context.queue, ...added.slice(at, at + 20));
    await until(() => seen.length >= 200);
    await worker.stop();
    assert.equal([...seen].sort(), added.map((one) => one.key).sort());
    assert.equal(await context.queue.counts(), none);
  });

  test.run();
}

/** Endpoints that hang. */
function hangingCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("endpoints that hang hold up nobody else, nor do all of a principal together", async (context) => {
    const [release, done]: [(() => void)[], string[]] = [[], []];
    let hanging = true;
    const worker = workerOf(context, {
      concurrency: 64,
      ownerOf: (endpoint) => ({ host: endpoint, principal: endpoint.replace(/\d+$/, "") }),
      handle: async ({ endpoint }) => {
        if (endpoint.startsWith("dead") && hanging) await new Promise<void>((resolve) => release.push(resolve));
        else done.push(endpoint);
        return delivered;
      },
    });
    worker.start();
    // More than are looked at in one go, and before the living ones in any order.
    const dead = Array.from({ length: 600 }, (_, index) => job({ endpoint: `dead${index % 300}` }));
    await put(context.queue, ...dead);
    await until(() => release.length >= 4);
    const alive = Array.from({ length: 50 }, (_, index) => job({ endpoint: `living${index % 5}` }));
    await put(context.queue, ...alive);
    await until(() => done.length === 50);
    assert.is(release.length, 4, "half of the eighth of the slots that is for the unknown");
    hanging = false;
    const stopped = worker.stop();
    for (const one of release) one();
    await stopped;
  });

  test("an endpoint that begins to hang holds up nobody else by how large its jobs are", async (context) => {
    const [release, done]: [(() => void)[], string[]] = [[], []];
    let hanging = false;
    const worker = workerOf(context, {
      concurrency: 512,
      ownerOf: (endpoint) => ({ host: endpoint, principal: endpoint }),
      handle: async ({ endpoint }) => {
        if (endpoint === "large" && hanging) await new Promise<void>((resolve) => release.push(resolve));
        done.push(endpoint);
        return delivered;
      },
    });
    worker.start();
    await put(context.queue, ...Array.from({ length: 100 }, () => job({ endpoint: "large" })));
    await until(() => done.length === 100);
    hanging = true;
    const large = Array.from({ length: 100 }, () => job({ endpoint: "large", body: Buffer.alloc(1_048_576, "x") }));
    for (let at = 0; at < large.length; at += 10) await put(context.queue, ...large.slice(at, at + 10));
    await until(() => release.length > 0);
    for (let n = 1; n <= 5; n++) {
      await put(context.queue, job({ endpoint: "living" }));
      await until(() => done.filter((one) => one === "living").length === n);
    }
    hanging = false;
    const stopped = worker.stop();
    for (const one of release) one();
    await stopped;
  });

  test.run();
}

/** A clock that goes wrong. */
function clockCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("what failed while the clock was an hour ahead does not wait for an hour, nor does what its endpoint has since", async (context) => {
    const { clock, queue } = context;
    let well = false;
    const done: string[] = [];
    const worker = workerOf(context, {
      failuresToPause: 1,
      handle: async ({ key }) => {
        if (!well) return { outcome: { kind: "later", due: clock.at + 3_000, error: "down" }, healthy: false };
        done.push(key);
        return delivered;
      },
    });
    clock.at += 3_600_000;
    worker.start();
    await put(queue, job({ key: "failed" }));
    await until(async () => (await queue.list()).some(({ attempts }) => attempts === 1));
    await until(async () => (await queue.health(job().endpoint)).pausedUntil > clock.at);
    well = true;
    clock.at -= 3_600_000;
    await put(queue, job({ key: "new" }));
    await until(() => done.length === 2);
    await worker.stop();
  });

  test.run();
}

/** Hosts share, too. */
function hostCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("a host that has succeeded and hangs then has half of the slots at most", async (context) => {
    const release: (() => void)[] = [];
    let hanging = false;
    let done = 0;
    const worker = workerOf(context, {
      concurrency: 32,
      ownerOf: (endpoint) => ({ host: endpoint.replace(/\d+$/, ""), principal: endpoint }),
      handle: async ({ endpoint }) => {
        if (endpoint.startsWith("host") && hanging) await new Promise<void>((resolve) => release.push(resolve));
        else done += 1;
        return delivered;
      },
    });
    worker.start();
    await put(context.queue, ...Array.from({ length: 400 }, (_, index) => job({ endpoint: `host${index % 20}` })));
    await until(() => done === 400);
    hanging = true;
    await put(context.queue, ...Array.from({ length: 400 }, (_, index) => job({ endpoint: `host${index % 20}` })));
    await until(() => release.length >= 16);
    await put(context.queue, ...Array.from({ length: 20 }, () => job({ endpoint: "other" })));
    await until(() => done === 420);
    assert.ok(release.length < 32, `${release.length} of 32 slots`);
    hanging = false;
    const stopped = worker.stop();
    for (const one of release) one();
    await stopped;
  });

  test.run();
}

/** Endpoints that fail are left alone for a while. */
function pausingCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("an endpoint that keeps failing is paused, probed, and taken up again", async (context) => {
    let well = false;
    let attempts = 0;
    const { worker, looked } = lookingWorkerOf(context, {
      failuresToPause: 3,
      pauseMs: 60_000,
      handle: async () => {
        attempts += 1;
        if (well) return delivered;
        return { outcome: { kind: "later", due: context.clock.at, error: "503" }, healthy: false };
      },
    });
    await put(context.queue, ...Array.from({ length: 30 }, () => job()));
    worker.start();
    await until(() => attempts >= 3 && worker.out === 0);
    const before = attempts;
    assert.ok(before < 10, `${before} attempts before the pause`);
    await looked();
    assert.is(attempts, before);
    await until(async () => (await context.queue.health("a")).pausedUntil === NOW + 60_000, "its pause is noted");
    context.clock.at += 60_001;
    await until(() => attempts === before + 1 && worker.out === 0);
    await looked();
    assert.is(attempts, before + 1);
    well = true;
    context.clock.at += 120_001;
    await until(() => attempts >= before + 31);
    await worker.stop();
    assert.equal(await context.queue.counts(), none);
  });

  test.run();
}

/** Endpoints that fail for too long. */
function givingUpCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("an endpoint that failed for too long: what was attempted is given up, the rest waits, then expires", async (context) => {
    const HOUR = 3_600_000;
    const told: string[] = [];
    const { worker, looked } = lookingWorkerOf(context, {
      failuresToPause: 2,
      giveUpMs: 24 * HOUR,
      expireMs: 168 * HOUR,
      perEndpoint: 2,
      onGivenUp: (endpoint, _count, state) => told.push(`${endpoint} ${state}`),
      handle: async () => {
        const due = context.clock.at + 1_000;
        return { outcome: { kind: "later", due, error: "refused" }, healthy: false };
      },
    });
    await put(context.queue, ...Array.from({ length: 12 }, () => job()));
    worker.start();
    const hoursUntil = async (what: () => Promise<boolean>): Promise<void> => {
      // More than the time it takes: an attempt may take longer than the looks of an hour.
      for (let hour = 0; hour < 600 && !(await what()); hour++) {
        context.clock.at += HOUR;
        await looked();
      }
    };
    await hoursUntil(async () => (await context.queue.counts()).dead > 0);
    const dead = await context.queue.list({ state: "dead" });
    assert.ok(dead.length > 0 && dead.every(({ attempts }) => attempts > 0));
    assert.is((await context.queue.counts()).expired, 0);
    await hoursUntil(async () => (await context.queue.counts()).ready === 0);
    await worker.stop();
    const { ready, dead: given, expired } = await context.queue.counts();
    assert.equal([ready, given + expired], [0, 12]);
    assert.ok((await context.queue.list({ state: "expired" })).every(({ attempts }) => attempts === 0));
    assert.ok(told.includes("a dead"));
  });

  test.run();
}

/** Leases that end. */
function leaseCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("a job whose lease has ended is not worked on, nor acknowledged", async (context) => {
    const seen: boolean[] = [];
    const started = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const worker = workerOf(context, {
      renewMs: 60_000,
      concurrency: 1,
      handle: async (_job, lease) => {
        seen.push(lease.live());
        started.resolve();
        await go.promise;
        seen.push(lease.live());
        return { outcome: { kind: "done" }, healthy: null };
      },
    });
    await put(context.queue, job());
    worker.start();
    await started.promise;
    await of.pass(context.clock, 0);
    await new Promise((resolve) => setTimeout(resolve, LEASE));
    context.clock.at += LEASE;
    const other = await context.other();
    const [taken] = await other.take({ now: context.clock.at, limit: 1, room: () => 1 });
    go.resolve();
    await worker.stop();
    assert.equal(seen, [true, false]);
    assert.is((await context.queue.counts()).ready, 1);
    assert.equal(await other.ack([{ job: taken!, outcome: { kind: "done" } }], context.clock.at), [true]);
  });

  test.run();
}

export function queueWorkerCase(of: QueueCase): void {
  for (const cases of [
    sharingCase,
    hangingCase,
    clockCase,
    hostCase,
    pausingCase,
    restartCase,
    givingUpCase,
    leaseCase,
    withdrawnCase,
  ])
    cases(of);
}
