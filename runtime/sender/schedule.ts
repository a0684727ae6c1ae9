/** When a failed delivery is tried again (docs/protocol/webhooks.md#retries). */
import { LONGEST_RETRY_AFTER_MS, retryAfterMs } from "../net/retry-after.js";

/** First delay, in milliseconds; doubled with every attempt. */
const FIRST_DELAY_MS = 1_000;
/** Longest delay, in milliseconds; also as long as a receiver may ask for. */
export const LONGEST_DELAY_MS = LONGEST_RETRY_AFTER_MS;
/** Delays are spread by this part of themselves, so that deliveries that failed together do not return together. */
const JITTER = 0.25;
/** How long one event is tried, in milliseconds: receivers remember keys for a day (docs/protocol/webhooks.md#limits). */
export const HORIZON_MS = 86_400_000;

/** Milliseconds after the attempt numbered `attempt`, from 0. */
const delayAfter = (attempt: number, random: () => number): number =>
  Math.round(
    Math.min(FIRST_DELAY_MS * 2 ** Math.min(attempt, 40), LONGEST_DELAY_MS) * (1 - JITTER + 2 * JITTER * random()),
  );

export interface FailedAttempt {
  /** From 0. */
  readonly attempt: number;
  /** Start of the first attempt, unix milliseconds. */
  readonly firstAt: number;
  readonly now: number;
  readonly retryAfter?: string | undefined;
}

/**
 * Time of the next attempt; undefined when the event's day is over. The last one is exactly at the end of the day, so
 * that a receiver that comes back in the day's last hour still gets its events.
 */
export function nextAttempt(
  { attempt, firstAt, now, retryAfter }: FailedAttempt,
  random: () => number,
): number | undefined {
  // A clock that was set back must not lend an event another day.
  const end = Math.min(firstAt, now) + HORIZON_MS;
  if (now >= end) return undefined;
  const delay = Math.max(delayAfter(attempt, random), retryAfterMs(retryAfter, now) ?? 0);
  return Math.min(now + delay, end);
}
