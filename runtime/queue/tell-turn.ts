/** What a worker learns of an endpoint, for other instances and for itself after a restart. */
import { safely } from "../listener.js";
import type { Turn } from "./endpoints.js";
import type { WorkerSettings } from "./worker-options.js";

/** What is to be written down. */
export type NotedTurn = Exclude<Turn, { kind: "same" }>;

/** In unix milliseconds. */
export interface AttemptTimes {
  readonly began: number;
  readonly ended: number;
}

/** Writes down what is learnt of endpoints, of each in the order it was learnt: a pause never overtakes the recovery after it, nor an operator. */
export class TurnNotes {
  /** What is being written of each. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(readonly options: WorkerSettings) {}

  /**
   * @param at when the attempt that taught it began and ended: by the time this is written the last attempt of others may be due
   * @throws what the queue throws: what is not written then is learnt again
   */
  tell(endpoint: string, turns: readonly NotedTurn[], at: AttemptTimes): Promise<void> {
    return this.#inTurn(endpoint, async () => {
      for (const turn of turns) await tellTurn(this.options, endpoint, turn, at);
    });
  }

  /**
   * Ends whatever is noted of it, and what was learnt before and is still being written. @returns whether there was anything
   * @throws what the queue throws
   */
  resume(endpoint: string): Promise<boolean> {
    return this.#inTurn(endpoint, () => this.options.queue.resume(endpoint));
  }

  async #inTurn<T>(endpoint: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(endpoint);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(endpoint, promise);
    try {
      await before;
      return await work();
    } finally {
      resolve();
      if (this.#last.get(endpoint) === promise) this.#last.delete(endpoint);
    }
  }
}

/** What was learnt of an endpoint is written down: other instances, and this one after a restart, go by it. */
async function tellTurn(
  options: WorkerSettings,
  endpoint: string,
  turn: NotedTurn,
  { began, ended }: AttemptTimes,
): Promise<void> {
  const { queue, giveUpMs = Number.POSITIVE_INFINITY, expireMs = Number.POSITIVE_INFINITY } = options;
  if (turn.kind === "recovered") return queue.recover(endpoint, { until: turn.until, now: ended });
  const note = { pausedUntil: turn.until, failingSince: turn.failingSince, began };
  const { failingSince } = await queue.pause(endpoint, note);
  if (failingSince === null) return;
  const failed = ended - failingSince;
  const why = "its endpoint has failed for too long";
  const until = async (state: "dead" | "expired", end: () => Promise<number>): Promise<void> => {
    for (let count = await end(); count > 0; count = await end())
      safely(() => options.onGivenUp?.(endpoint, count, state));
  };
  if (failed >= giveUpMs) await until("dead", () => queue.deadLetter(endpoint, ended - giveUpMs, why));
  if (failed >= expireMs) await until("expired", () => queue.expire(endpoint, ended - expireMs, why));
}
