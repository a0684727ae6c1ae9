/** The turns of workers, counted: what a worker has not done by its next look for jobs, it will not do by waiting longer. */
import { openQueue } from "../../runtime/queue/index.js";
import type { OpenQueue, Queue, TakeRequest } from "../../runtime/queue/types.js";
import { queueWith } from "./queue-with.js";
import { until } from "./until.js";

/** Counts how often the workers of some queues have looked for jobs. */
export class Looks {
  readonly #queues: CountedQueue[] = [];

  /** The same queue, with its looks counted. */
  of(queue: Queue): Queue {
    const counted = new CountedQueue(queue);
    this.#queues.push(counted);
    return counted.queue;
  }

  /** What opens queues whose looks are counted. */
  opening(open: OpenQueue = openQueue): OpenQueue {
    return async (database, topic, options) => this.of(await open(database, topic, options));
  }

  /** Comes back when every worker that runs has looked anew, and has begun what it found: with `noneOut` it has ended, too. */
  async passed(): Promise<void> {
    const running = this.#queues.filter(({ wakes }) => wakes.size > 0);
    if (running.length === 0) throw new Error("no worker runs that could look for jobs");
    // What the first of two brought has begun when the second ends.
    const goals = running.map((one) => ({ one, looks: one.begun + 2 }));
    await until(
      () => {
        const rest = goals.filter(({ one, looks }) => one.ended < looks);
        // An idle worker would come to it by itself, many polls later.
        for (const { one } of rest) for (const wake of one.wakes) wake();
        return rest.length === 0;
      },
      () => `each worker looks twice: ${goals.map(({ one, looks }) => `${one.ended} of ${looks}`).join(", ")}`,
    );
  }
}

class CountedQueue {
  begun = 0;
  /** A worker looks again only when a look has ended. */
  ended = 0;
  /** Those of the workers that run. */
  readonly wakes = new Set<() => void>();
  readonly queue: Queue;

  constructor(queue: Queue) {
    this.queue = queueWith(queue, {
      take: (request) => this.#take(queue, request),
      onWake: (listener) => this.#onWake(queue, listener),
    });
  }

  async #take(queue: Queue, request: TakeRequest): ReturnType<Queue["take"]> {
    this.begun += 1;
    try {
      return await queue.take(request);
    } finally {
      this.ended += 1;
    }
  }

  #onWake(queue: Queue, listener: () => void): () => void {
    const forget = queue.onWake(listener);
    this.wakes.add(listener);
    return () => {
      this.wakes.delete(listener);
      forget();
    };
  }
}
