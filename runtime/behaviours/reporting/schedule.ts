/** When the periods of a feed begin and end: hours are hours, and days are those of a calendar, 23 to 25 hours long. */
import type { FeedPeriod, FeedSchedule } from "../ports/report-feeds.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known =
    formats.get(timeZone) ??
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
  formats.set(timeZone, known);
  return known;
}

/** What the clocks of a zone show at an instant, as if it were UTC. */
function wallOf(at: number, timeZone: string): number {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The instant at which the clocks of a zone show midnight of a day. */
function midnight(wallDay: number, timeZone: string): number {
  let at = wallDay;
  // The offset at the guess is right but near a change of clocks; the second look is then.
  for (let look = 0; look < 2; look++) at = wallDay - (wallOf(at, timeZone) - at);
  return at;
}

/** The period that an instant is in, in milliseconds since the epoch. */
export function periodAt(at: number, { period, timezone = "UTC" }: FeedSchedule): { start: number; end: number } {
  if (period === "PT1H") {
    const start = Math.floor(at / HOUR) * HOUR;
    return { start, end: start + HOUR };
  }
  const day = Math.floor(wallOf(at, timezone) / DAY) * DAY;
  return { start: midnight(day, timezone), end: midnight(day + DAY, timezone) };
}

/** Periods of a feed that are told of, at most: what is older is not kept. */
const MAX_PERIODS = 1_000;

/** The periods that have ended, oldest first. */
export function elapsedPeriods(schedule: FeedSchedule, since: number, now: number): FeedPeriod[] {
  const found: FeedPeriod[] = [];
  for (let at = since; ; ) {
    const { start, end } = periodAt(at, schedule);
    if (end > now) return found.slice(-MAX_PERIODS);
    found.push({ start: new Date(start).toISOString(), end: new Date(end).toISOString() });
    at = end;
  }
}

export const expectedAt = ({ end }: FeedPeriod, { slaSeconds }: FeedSchedule): string =>
  new Date(Date.parse(end) + slaSeconds * 1000).toISOString();

/** When the next report of a feed is due. */
export function nextExpectedAt(schedule: FeedSchedule, now: number): string {
  // The period that ended longest ago and is still not due.
  for (let at = now - schedule.slaSeconds * 1000 - 1; ; ) {
    const { end } = periodAt(at, schedule);
    const due = end + schedule.slaSeconds * 1000;
    if (due > now) return new Date(due).toISOString();
    at = end;
  }
}

/** Seconds as ISO 8601 has a duration. */
export const isoDuration = (seconds: number): string =>
  seconds % 3600 === 0 ? `PT${seconds / 3600}H` : seconds % 60 === 0 ? `PT${seconds / 60}M` : `PT${seconds}S`;
