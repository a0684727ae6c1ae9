/** What has expired goes bit by bit, beside requests that wait for nothing long. */
import type { PeriodicStep } from "../queue/periodic.js";
import type { Expiring } from "../store/types.js";

/**
 * Rows removed in the first transaction of a run, and fewest in any: they cost a millisecond or two. On a disk whose every commit
 * takes longer than a step, fewer would be no quicker, and never as many as come in.
 */
const LEAST_ROWS = 50;
/** Most rows removed in one transaction. */
const MOST_ROWS = 500;
/** What a transaction may take, in milliseconds: a request beside it waits about as long. */
const STEP_MS = 10;

/** Keeps no process alive, so who stops does not wait for its end: nothing might come of that any more. */
const pause = (ms: number, stopping: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stopping.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms).unref();
    stopping.addEventListener("abort", end, { once: true });
    if (stopping.aborted) end();
  });

/**
 * Steps of periodic work, one for each kind of rows. A transaction that took long is followed by a smaller one, and each by a
 * pause as long as itself.
 * @param now unix milliseconds
 */
export const sweepSteps = (expiring: readonly Expiring[], now: () => number): PeriodicStep[] =>
  expiring.map(({ what, remove }) => ({
    name: `remove ${what}`,
    meanwhile: "they stay, and the database grows; see what it says in the error",
    async run(stopping) {
      let rows = LEAST_ROWS;
      while (!stopping.aborted) {
        const begun = performance.now();
        if ((await remove(now(), rows)) < rows) return;
        const took = performance.now() - begun;
        rows = Math.max(LEAST_ROWS, Math.min(MOST_ROWS, Math.round(took > STEP_MS ? rows / 2 : rows * 1.5)));
        await pause(Math.min(took, 10 * STEP_MS), stopping);
      }
    },
  }));
