/** How long a worker that found nothing rests before it asks again, unless it is woken. */

/** An idle queue is asked this many times less often, at most. */
const IDLE_FACTOR = 4;
/** And this many, where new jobs would be told of: what tells may be broken unnoticed. */
const QUIET_FACTOR = 20;
/** Doublings that make any pause longer than its limit. */
const DOUBLINGS = 10;

export interface Resting {
  /** Milliseconds. */
  readonly pollMs: number;
  /** Rests in a row with nothing under way. */
  readonly idle: number;
  /** For how long nothing is due, where that is known; milliseconds. */
  readonly quietMs: number | undefined;
}

/** @returns milliseconds */
export function restMs({ pollMs, idle, quietMs = 0 }: Resting): number {
  const usual = Math.min(pollMs * 2 ** Math.min(idle, DOUBLINGS), pollMs * IDLE_FACTOR);
  return Math.max(usual, Math.min(quietMs, pollMs * QUIET_FACTOR));
}
