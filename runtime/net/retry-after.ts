/** When another server wants to be asked again. */

/** Longest time it is left alone for its asking, in milliseconds. */
export const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** Between two values, and not within a date. */
const COMMA = /(?<!\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*),/;
const ZONE = /(?:GMT|UTC|Z|[+-]\d\d:?\d\d)$/i;

/** Milliseconds from now; NaN where it is neither seconds nor a date. */
function msOf(text: string, now: number): number {
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  // Any words before a number would be read as a date.
  if (!/\d:\d\d/.test(text)) return Number.NaN;
  // One of the forms of a date names no zone, and means the same as the others.
  return Date.parse(ZONE.test(text) ? text : `${text} GMT`) - now;
}

/**
 * `Retry-After` (RFC 9110, 10.2.3), in all three forms of a date.
 * @param value of the header; of several, joined by commas, the longest counts: whoever stands before a server adds its own
 * @param now unix milliseconds
 * @returns milliseconds, at most an hour; undefined where it says nothing usable
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const usable = value
    .split(COMMA)
    .map((one) => msOf(one.trim(), now))
    .filter((ms) => ms > 0);
  return usable.length === 0 ? undefined : Math.min(Math.max(...usable), LONGEST_RETRY_AFTER_MS);
}

/** As `retryAfterMs`, in whole seconds, rounded up. */
export function retryAfterInSeconds(value: string | undefined, now: number): number | undefined {
  const ms = retryAfterMs(value, now);
  return ms === undefined ? undefined : Math.ceil(ms / 1_000);
}
