/** What a worker must do on every queue: one body, run against each engine. */

import * as assert from "uvu/assert";
import type { TakeRequest } from "../../runtime/queue/types.js";
import { createWorker, type Outcome, type WorkerOptions } from "../../runtime/queue/worker.js";
import { until } from "../support/until.js";
import { type Context, job, NOW, put, type QueueCase, queueSuite } from "./queue-suite.js";

const delivered: Outcome = { verdict: { kind: "done" }, healthy: true };

export function queueWorkerCase<Tx>(of: QueueCase<Tx>): void {
  const test = queueSuite(of);
  const workerOf = (context: Context<Tx>, over: Partial<WorkerOptions<Tx>> & Pick<WorkerOptions<Tx>, "handle">) =>
    createWorker<Tx>({
      queue: context.queue,
      longestDelayMs: 4_000_000,
      now: () => context.clock.at,
      pollMs: 20,
      onFault: (error) => assert.unreachable(String(error)),
      ...over,
    });

  /** A worker that counts how often it has looked for jobs, and had its answer. */
  const lookingWorkerOf = (context: Context<Tx>, over: Parameters<typeof workerOf>[1]) => {
    let looks = 0;
    const queue = new Proxy(context.queue, {
      get(target, name) {
        if (name === "take")
          return async (request: TakeRequest) => {
            const jobs = await target.take(request);
            looks += 1;
            return jobs;
          };
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    /** Comes back when looks that began later have ended: the first of two may have been under way. */
    const looked = (): Promise<void> => {
      const before = looks;
      return until(() => looks >= before + 2, "the worker looks for jobs twice");
    };
    return { worker: workerOf({ ...context, queue }, over), looked };
  };

  test("a worker drains what is added while it runs, each job once", async (context) => {
    const seen: string[] = [];
    const worker = workerOf(context, {
      handle: async ({ key }) => {
        seen.push(key);
        return delivered;
      },
    });
    worker.start();
    const added = Array.from({ length: 200 }, (_, index) => job({ group: `g${index % 7}`, lane: `l${index % 20}` }));
    for (let at = 0; at < added.length; at += 20) await put(context.queue, ...added.slice(at, at + 20));
    await until(() => seen.length >= 200);
    await worker.stop();
    assert.equal([...seen].sort(), added.map((one) => one.key).sort());
    assert.equal(await context.queue.counts(), { ready: 0, dead: 0 });
  });

  test("groups that hang hold up nobody else", async (context) => {
    const release: (() => void)[] = [];
    let done = 0;
    let hanging = true;
    const worker = workerOf(context, {
      concurrency: 40,
      handle: async ({ group }) => {
        if (group.startsWith("dead") && hanging) await new Promise<void>((resolve) => release.push(resolve));
        else done += 1;
        return delivered;
      },
    });
    worker.start();
    const dead = Array.from({ length: 100 }, (_, index) => job({ group: `dead${index % 10}` }));
    await put(context.queue, ...dead);
    await until(() => release.length >= 20);
    await put(context.queue, ...Array.from({ length: 50 }, () => job({ group: "alive" })));
    await until(() => done === 50);
    assert.ok(release.length < 40);
    hanging = false;
    const stopped = worker.stop();
    for (const one of release) one();
    await stopped;
  });

  test("a group that keeps failing is paused, probed, and taken up again", async (context) => {
    let well = false;
    let attempts = 0;
    const { worker, looked } = lookingWorkerOf(context, {
      failuresToPause: 3,
      pauseMs: 60_000,
      handle: async () => {
        attempts += 1;
        if (well) return delivered;
        return { verdict: { kind: "later", due: context.clock.at, error: "503" }, healthy: false };
      },
    });
    await put(context.queue, ...Array.from({ length: 30 }, () => job()));
    worker.start();
    await until(() => attempts >= 3 && worker.out === 0);
    const before = attempts;
    assert.ok(before < 10, `${before} attempts before the pause`);
    await looked();
    assert.is(attempts, before);
    assert.is((await context.queue.health("a")).pausedUntil, NOW + 60_000);
    context.clock.at += 60_001;
    await until(() => attempts === before + 1 && worker.out === 0);
    await looked();
    assert.is(attempts, before + 1);
    well = true;
    context.clock.at += 120_001;
    await until(() => attempts >= before + 31);
    await worker.stop();
    assert.equal(await context.queue.counts(), { ready: 0, dead: 0 });
  });

  test("a group that failed for too long is given up, whatever of it was never attempted", async (context) => {
    const { worker, looked } = lookingWorkerOf(context, {
      failuresToPause: 2,
      giveUpMs: 86_400_000,
      handle: async () => {
        const due = context.clock.at + 1_000;
        return { verdict: { kind: "later", due, error: "refused" }, healthy: false };
      },
    });
    await put(context.queue, ...Array.from({ length: 12 }, () => job()));
    worker.start();
    await until(() => worker.out === 0);
    let dead = 0;
    // More than the day it takes: an attempt may still be out when the hour has passed.
    for (let hour = 0; hour < 240 && dead < 12; hour++) {
      context.clock.at += 3_600_000;
      await looked();
      dead = (await context.queue.counts()).dead;
    }
    await worker.stop();
    assert.equal(await context.queue.counts(), { ready: 0, dead: 12 });
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
