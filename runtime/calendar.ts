/** Calendars of time zones: hours, days, weeks, months and quarters as its clocks show them. Instants are unix milliseconds. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const UTC = "UTC";

/** By names in small letters, of which there are some hundreds: callers who write one in a million ways have one. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws RangeError where it is no time zone */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const name = timeZone.toLowerCase();
  const known =
    formats.get(name) ??
    new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  formats.set(name, known);
  return known;
}

/** Whether it is "UTC" or a zone of the IANA's database. */
export function isTimeZone(zone: unknown): zone is string {
  try {
    return typeof zone === "string" && formatOf(zone) !== undefined;
  } catch {
    return false;
  }
}

/** What the clocks of a zone show at an instant, as if it were UTC. */
function wallAt(at: number, zone: string): number {
  if (zone === UTC) return at;
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((at % 1_000) + 1_000) % 1_000);
}

/** The first instant at which the clocks of a zone show midnight of a day; where they go past it, that at which they do. */
function midnight(wallDay: number, zone: string): number {
  if (zone === UTC) return wallDay;
  const [early, late] = [wallDay - DAY_MS, wallDay + DAY_MS].map((at) => wallDay - (wallAt(at, zone) - at)) as [
    number,
    number,
  ];
  let [before, from] = [Math.min(early, late), Math.max(early, late)];
  for (const at of [before, from]) if (wallAt(at, zone) === wallDay) return at;
  while (from - before > 1) {
    const at = Math.floor((before + from) / 2);
    if (wallAt(at, zone) < wallDay) before = at;
    else from = at;
  }
  return from;
}

/** The day of the calendar that an instant is in, `YYYY-MM-DD`. */
export const dayAt = (at: number, zone: string = UTC): string => new Date(wallAt(at, zone)).toISOString().slice(0, 10);

/** When a day begins. @param day `YYYY-MM-DD` */
export const startOfDay = (day: string, zone: string = UTC): number => midnight(Date.parse(day), zone);

export const dayAfter = (day: string): string => dayAt(Date.parse(day) + DAY_MS);

/** @param ms what is shown as UTC */
function wallTurn(unit: string, ms: number): number {
  const date = new Date(ms);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (unit) {
    case "daily":
      return Date.UTC(year, month, day + 1);
    case "weekly":
      // From Monday on.
      return Date.UTC(year, month, day + 7 - ((date.getUTCDay() + 6) % 7));
    case "monthly":
      return Date.UTC(year, month + 1, 1);
    case "quarterly":
      return Date.UTC(year, month - (month % 3) + 3, 1);
    default:
      return Number.POSITIVE_INFINITY;
  }
}

/** The first turn of an hour, a day and so on after an instant: a day may be 23 or 25 hours long. Infinity for another unit. */
export function turnAfter(unit: string, at: number, zone: string = UTC): number {
  const wall = wallAt(at, zone);
  // Clocks that are half an hour from others' have their own hours.
  if (unit === "hourly") return at + HOUR_MS - (((wall % HOUR_MS) + HOUR_MS) % HOUR_MS);
  const turn = wallTurn(unit, wall);
  return Number.isFinite(turn) ? midnight(turn, zone) : turn;
}

/** Whether a day of the calendar begins at an instant. */
export const isStartOfDay = (at: number, zone: string = UTC): boolean => startOfDay(dayAt(at, zone), zone) === at;
