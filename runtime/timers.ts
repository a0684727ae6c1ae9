/** What Node's timers hold: one that is given more fires at once. */

/** Longest that they run, in milliseconds: 24.8 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** @returns whether a timer can run for so many milliseconds */
export const isTimerMs = (ms: number): boolean => ms > 0 && ms <= LONGEST_MS;

/** @returns what to give a timer that is to run for so many milliseconds, `Infinity` too: the longest it can where that is less */
export const timerMs = (ms: number): number => Math.min(ms, LONGEST_MS);
