/** What is noted of endpoints by a worker that is gone, on every queue; part of `queueWorkerCase`. */
import * as assert from "uvu/assert";
import type { Handled } from "../../runtime/queue/worker.js";
import { until } from "../support/until.js";
import { delivered, workerOf } from "./queue-steps.js";
import { type Context, job, NOW, put, type QueueCase, queueSuite } from "./queue-suite.js";

const failed = (due: number): Handled => ({ outcome: { kind: "later", due, error: "503" }, healthy: false });

const endpointsOf = async ({ queue }: Context) =>
  (await queue.endpoints({ limit: 10 })).map(({ endpoint, failingSince }) => [endpoint, failingSince]);

function goneCase(of: QueueCase): void {
  const test = queueSuite(of);
  const outage = async (context: Context): Promise<void> => {
    const worker = workerOf(context, { failuresToPause: 2, handle: async () => failed(context.clock.at) });
    await put(context.queue, job(), job());
    worker.start();
    await until(async () => (await context.queue.health("a")).failingSince === NOW, "it is noted that it fails");
    await worker.stop();
  };

  test("an outage that ends after a restart is not noted any more", async (context) => {
    await outage(context);
    assert.equal(await endpointsOf(context), [["a", NOW]]);
    context.clock.at += 60_000;
    const worker = workerOf(context, { handle: async () => delivered });
    worker.start();
    await until(async () => (await context.queue.counts()).ready === 0 && worker.out === 0);
    await worker.stop();
    assert.equal(await endpointsOf(context), []);
    assert.equal(await context.queue.health("a"), { pausedUntil: 0, failingSince: null });
  });

  test("an outage that an instance had noted which is gone ends with what another delivers", async (context) => {
    let made = 0;
    const worker = workerOf(context, {
      renewMs: 5,
      handle: async () => {
        made += 1;
        return delivered;
      },
    });
    worker.start();
    await put(context.queue, job());
    await until(() => made === 1 && worker.out === 0);
    // By another, to whom nothing more is given.
    await (await context.other()).pause("a", {
      ...{ pausedUntil: context.clock.at, failingSince: context.clock.at, began: context.clock.at },
    });
    await until(async () => {
      await put(context.queue, job());
      return (await context.queue.health("a")).failingSince === null;
    }, "it is noted as well");
    await worker.stop();
  });

  test.run();
}

/** What is noted by a worker that goes on. */
function askingCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("an endpoint that asks for time, and fails too seldom to be paused, is not noted for ever", async (context) => {
    let calls = 0;
    const worker = workerOf(context, {
      handle: async () => {
        calls += 1;
        if (calls > 2) return delivered;
        return { ...failed(context.clock.at), holdUntil: context.clock.at + 1_000 };
      },
    });
    worker.start();
    await put(context.queue, job());
    for (let wanted = 1; wanted <= 2; wanted++) {
      await until(async () => (await context.queue.health("a")).pausedUntil === context.clock.at + 1_000);
      context.clock.at += 1_001;
    }
    await until(() => calls === 3 && worker.out === 0);
    await worker.stop();
    assert.equal(await endpointsOf(context), []);
  });

  test.run();
}

export function restartCase(of: QueueCase): void {
  for (const cases of [goneCase, askingCase]) cases(of);
}
