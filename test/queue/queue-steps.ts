/** What the cases of a queue do again and again. */
import * as assert from "uvu/assert";
import type { Job, JobOutcome, Queue } from "../../runtime/queue/types.js";
import { createWorker, type Handled, type WorkerOptions } from "../../runtime/queue/worker.js";
import type { Context } from "./queue-suite.js";

const anyRoom = () => 1_000;

export const take = (queue: Queue, now: number, limit = 100, room: (endpoint: string) => number = anyRoom) =>
  queue.take({ now, limit, room });
export const keys = (jobs: readonly Job[]) => jobs.map((one) => one.key).sort();
export const end = (job: Job, outcome: JobOutcome) => ({ job, outcome });
export const none = { ready: 0, dead: 0, expired: 0, refused: 0 };

export const delivered: Handled = { outcome: { kind: "done" }, healthy: true };
/** Under the clock of a test; a fault of the queue is one of the test. */
export const workerOf = (context: Context, over: Partial<WorkerOptions> & Pick<WorkerOptions, "handle">) =>
  createWorker({
    queue: context.queue,
    longestDelayMs: 4_000_000,
    now: () => context.clock.at,
    pollMs: 20,
    onFault: (error) => assert.unreachable(String(error)),
    ...over,
  });
