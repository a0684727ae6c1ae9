/** Event times as text that sorts: what `Date` would round away decides which of two events is newer. */

const dateTime = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** Digits kept of a second's fraction. */
const FRACTION_DIGITS = 9;

const daysInMonth = (year: number, month: number): number =>
  month === 2
    ? year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
      ? 29
      : 28
    : [4, 6, 9, 11].includes(month)
      ? 30
      : 31;

/**
 * A date-time (RFC 3339) as `YYYY-MM-DDTHH:MM:SS.fffffffff` in UTC. Two of them compare as text, whatever offsets and
 * precisions they were written in. Undefined for anything else, a time without an offset included.
 */
export function toInstant(value: unknown): string | undefined {
  const match = typeof value === "string" ? dateTime.exec(value) : null;
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", sign, offsetHour, offsetMinute] = match as string[];
  if (+month! < 1 || +month! > 12 || +day! < 1 || +day! > daysInMonth(+year!, +month!)) return undefined;
  if (+hour! > 23 || +minute! > 59 || +second! > 60) return undefined;
  // A leap second sorts as the last moment of the second before it.
  const leap = second === "60";
  const text = `${year}-${month}-${day}T${hour}:${minute}:${leap ? "59" : second}`;
  const digits = leap ? "9".repeat(FRACTION_DIGITS) : fraction.slice(0, FRACTION_DIGITS).padEnd(FRACTION_DIGITS, "0");
  if (sign === undefined) return `${text}.${digits}`;
  if (+offsetHour! > 23 || +offsetMinute! > 59) return undefined;
  const offsetMs = (+offsetHour! * 60 + +offsetMinute!) * 60_000 * (sign === "-" ? -1 : 1);
  const utc = new Date(Date.parse(`${text}Z`) - offsetMs).toISOString();
  // Before year 0 and after 9999 the text has another form, which would not sort.
  return utc.length === 24 ? `${utc.slice(0, 19)}.${digits}` : undefined;
}

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

/** An instant as unix milliseconds. */
export const instantMs = (instant: string): number => Date.parse(`${instant.slice(0, 23)}Z`);

/** An instant as a date-time of RFC 3339. */
export const instantText = (instant: string): string => `${instant}Z`;
