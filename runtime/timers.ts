/** Waits with an end. Node's timers hold so much only: one that is given more fires at once. */

/** Longest that they run, in milliseconds: 24.8 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** @returns whether a timer can run for so many milliseconds */
export const isTimerMs = (ms: number): boolean => ms > 0 && ms <= LONGEST_MS;

/** @returns what to give a timer that is to run for so many milliseconds, `Infinity` too: the longest it can where that is less */
export const timerMs = (ms: number): number => Math.min(ms, LONGEST_MS);

/**
 * What some work comes to, unless a signal ends the wait for it first; the work itself goes on.
 * @throws the signal's reason
 */
export async function unlessAborted<T>(work: Promise<T> | T, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(signal.reason);
  signal.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([work, over]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}
