/** When the periods of a feed begin and end: hours are hours, and days are those of a calendar, 23 to 25 hours long. */
import { dayAt, isTimeZone, startOfDay, turnAfter } from "../../calendar.js";
import { AdbindError } from "../../errors.js";
import type { FeedPeriod, FeedSchedule, ReportFeed } from "../ports/report-feeds.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The period that an instant is in, in milliseconds since the epoch. */
export function periodAt(at: number, { period, timezone = "UTC" }: FeedSchedule): { start: number; end: number } {
  if (period === "PT1H") {
    const start = Math.floor(at / HOUR) * HOUR;
    return { start, end: start + HOUR };
  }
  return { start: startOfDay(dayAt(at, timezone), timezone), end: turnAfter("daily", at, timezone) };
}

/** The longest that a report may come after its period, in seconds: ten years. */
const MOST_SLA_S = 10 * 366 * 86_400;

/**
 * A feed as its port says it, looked at before anybody counts by it: by a time that is none nobody would come to an end.
 * @throws AdbindError `port_answer_invalid`
 */
export function checkedFeed(feed: ReportFeed): ReportFeed {
  const { id, since, schedule } = feed;
  const { period, timezone = "UTC", slaSeconds } = schedule;
  const wrong = !Number.isFinite(Date.parse(since))
    ? `begins at ${String(since)}`
    : !["PT1H", "P1D"].includes(period)
      ? `comes each ${String(period)}`
      : slaSeconds >= 0 && slaSeconds <= MOST_SLA_S
        ? undefined
        : `is due ${String(slaSeconds)} seconds after its period`;
  if (wrong === undefined && isTimeZone(timezone)) return feed;
  throw new AdbindError("port_answer_invalid", `feed ${id} ${wrong ?? `has the timezone ${String(timezone)}`}`, {
    where: "feeds of the port reporting",
    remedy: "give ISO 8601, PT1H or P1D, seconds of at least 0, and an IANA time zone",
  });
}

/** Periods of a feed that are told of, at most: what is older is not kept. */
const MAX_PERIODS = 1_000;

/** The periods that have ended, oldest first. */
export function elapsedPeriods(schedule: FeedSchedule, since: number, now: number): FeedPeriod[] {
  const found: FeedPeriod[] = [];
  const length = schedule.period === "PT1H" ? HOUR : DAY;
  // Those that are not kept are not counted through: a feed may say that it began with the epoch.
  for (let at = Math.max(since, now - (MAX_PERIODS + 2) * length); ; ) {
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
