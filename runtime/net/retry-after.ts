/** When another server wants to be asked again. */

/** Longest time it is left alone for its asking, in milliseconds. */
export const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * `Retry-After` (RFC 9110, 10.2.3).
 * @param value of the header
 * @param now unix milliseconds
 * @returns milliseconds, at most an hour; undefined where it says nothing usable
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return ms > 0 ? Math.min(ms, LONGEST_RETRY_AFTER_MS) : undefined;
}
