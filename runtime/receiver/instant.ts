/** Event times as text that sorts: what `Date` would round away decides which of two events is newer. */
import { toInstant } from "../moment.js";

/**
 * The latest instant that is certainly not ahead, and from when on there is a later one. Most events are from before it, and
 * need no text made of the present.
 */
let bound = { at: Number.NaN, until: Number.NaN, instant: "" };

/** Is an instant at most so far ahead of a clock's reading? @param limit unix milliseconds */
function isWithin(said: string, limit: number): boolean {
  if (!(limit >= bound.at && limit < bound.until))
    bound = { at: limit, until: limit + 1000, instant: instantOf(limit) };
  return said <= bound.instant || said <= instantOf(limit);
}

/** A clock's reading as an instant. */
const instantOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 23)}000000`;

/** How far a sender's clock may be ahead, in milliseconds: as far as for signatures (docs/protocol/signing.md#window). */
const SKEW_MS = 60_000;

/** When an event happened. `early`: what its sender said is still to come, so that its arrival counts. */
export interface EventTime {
  readonly instant: string;
  readonly by: "sender" | "arrival" | "poll";
  readonly early?: true;
}

/**
 * When an event happened: what it says, unless that is nothing or in the future. One event from the year 9999 would
 * otherwise shut its task to all that follow.
 * @param now unix milliseconds
 */
export const timeOf = (value: unknown, now: number): EventTime => timeAt(toInstant(value), now);

/** As `timeOf`, of an instant that was read already; undefined where there is none. */
export function timeAt(said: string | undefined, now: number): EventTime {
  if (said === undefined) return { instant: instantOf(now), by: "arrival" };
  return isWithin(said, now + SKEW_MS)
    ? { instant: said, by: "sender" }
    : { instant: instantOf(now), by: "arrival", early: true };
}

/** An instant as a date-time of RFC 3339. */
export const instantText = (instant: string): string => `${instant}Z`;
