/** What waits for a time, when the clock is set back. */

/** Clocks are adjusted by as much all the time, in milliseconds. */
const SLACK_MS = 2_000;
/** No failure postpones an event for as long, in milliseconds. */
const LONGEST_DELAY_MS = 7_200_000;

/** What is due later than it should be. Times are unix milliseconds. */
export interface SetBack {
  /** Nobody holds it, and it is due after this. */
  readonly beyond: number;
  /** By how much it comes nearer, in milliseconds; to the present at most. */
  readonly by: number;
}

/** Notices a clock that was set back: what was to be done by the old one would wait until it is as late again. */
export class ClockWatch {
  #before: number | undefined;

  /** @returns what comes nearer; at the first look the clock may have been set back while nobody looked */
  look(now: number): SetBack | undefined {
    const before = this.#before;
    this.#before = now;
    if (before === undefined) return { beyond: now + LONGEST_DELAY_MS, by: Number.MAX_SAFE_INTEGER };
    return now < before - SLACK_MS ? { beyond: now, by: before - now } : undefined;
  }
}
