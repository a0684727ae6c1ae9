/** Moments as RFC 3339 and ISO 8601 write them: the same in every process, whatever time zone its machine is in. */

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

/** An instant as unix milliseconds. */
export const instantMs = (instant: string): number => Date.parse(`${instant.slice(0, 23)}Z`);

/** ISO 8601: without seconds, and with zones by the hour, it is no date-time of RFC 3339, and means one moment all the same. */
const iso = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(?:[Zz]|([+-]\d{2})(?::?(\d{2}))?)?)?$/;

/**
 * A date, or a time of a day, as others wrote it into a file that no schema has judged. One that names no zone is UTC: by the zone
 * of whoever reads it, it would be another on each machine.
 * @returns unix milliseconds; NaN for anything else, which `Date` would make something of (`revoked 2099`)
 */
export function momentMs(text: string): number {
  const [, day, time = "00:00", seconds = ":00", hours, minutes = "00"] = iso.exec(text) ?? [];
  const zone = hours === undefined ? "Z" : `${hours}:${minutes}`;
  const instant = toInstant(`${day}T${time}${seconds}${zone}`);
  return instant === undefined ? Number.NaN : instantMs(instant);
}

/**
 * Whether an end that others wrote is over. None is none; one that cannot be read is not taken for that.
 * @param now unix milliseconds
 */
export const isEndOver = (end: unknown, now: number): boolean =>
  end != null && !(typeof end === "string" && momentMs(end) > now);
