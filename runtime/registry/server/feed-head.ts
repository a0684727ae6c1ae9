/** Knows the feed's newest change, asking for it as long as anybody waits. */
import type { Logger } from "pino";
import type { RegistryData } from "../types.js";

/** How often it is asked for, in milliseconds: a change is told well within a second. */
const POLL_MS = 250;

export interface FeedWatch {
  readonly newest: number;
  /** Resolves when there is something newer than `seen`, after a time, or when the signal says so. */
  wait(seen: number, ms: number, signal: AbortSignal): Promise<void>;
  stop(): void;
}

export function createFeedWatch(data: Pick<RegistryData, "feedEnd">, log: Logger): FeedWatch {
  const waiting = new Set<() => void>();
  let newest = -1;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const later = (): void => {
    timer ??= stopped ? undefined : setTimeout(() => ask().then(again, again), POLL_MS);
  };
  const again = (): void => {
    timer = undefined;
    if (waiting.size > 0) later();
  };
  const ask = async (): Promise<void> => {
    try {
      const { seq } = await data.feedEnd();
      if (seq > newest) {
        newest = seq;
        for (const wake of [...waiting]) wake();
      }
    } catch (error) {
      log.warn({ err: error }, "the feed's newest change could not be read");
    }
  };
  return {
    get newest(): number {
      return newest;
    },
    wait: (seen: number, ms: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(late);
          signal.removeEventListener("abort", done);
          waiting.delete(done);
          resolve();
        };
        const late = setTimeout(done, ms);
        if (signal.aborted || newest > seen) return done();
        signal.addEventListener("abort", done);
        waiting.add(done);
        later();
      }),
    stop: (): void => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
