/** Event times as text that sorts: what `Date` would round away decides which of two events is newer. */

const dateTime = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}):(\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})$/;

/** Digits kept of a second's fraction. */
const FRACTION_DIGITS = 9;

/**
 * A date-time (RFC 3339) as `YYYY-MM-DDTHH:MM:SS.fffffffff` in UTC. Two of them compare as text, whatever offsets and
 * precisions they were written in. Undefined for anything else, a time without an offset included.
 */
export function toInstant(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const match = dateTime.exec(value);
  if (match === null) return undefined;
  const [, date, minute, second, fraction = "", zone] = match as unknown as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  // A leap second sorts as the last moment of the second before it.
  const leap = second === "60";
  const time = Date.parse(`${date}T${minute}:${leap ? "59" : second}${zone.toUpperCase()}`);
  if (Number.isNaN(time) || !isCalendarDate(date)) return undefined;
  const text = new Date(time).toISOString();
  if (text.length !== 24) return undefined;
  const digits = leap ? "9".repeat(FRACTION_DIGITS) : fraction.slice(0, FRACTION_DIGITS).padEnd(FRACTION_DIGITS, "0");
  return `${text.slice(0, 19)}.${digits}`;
}

/** `Date` takes February 30th for March 1st. */
const isCalendarDate = (date: string): boolean => {
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
};

/** A clock's reading as an instant. */
export const instantOf = (ms: number): string => toInstant(new Date(ms).toISOString())!;

/** An instant as unix milliseconds. */
export const instantMs = (instant: string): number => Date.parse(`${instant.slice(0, 23)}Z`);

/** An instant as a date-time of RFC 3339. */
export const instantText = (instant: string): string => `${instant}Z`;
