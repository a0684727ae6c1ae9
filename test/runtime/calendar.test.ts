/** Calendars of time zones: every turn is after what it is the turn of, and days leave no time out. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { dayAfter, dayAt, isStartOfDay, isTimeZone, startOfDay, turnAfter } from "../../runtime/calendar.js";

const zones = [
  ...["UTC", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Pacific/Kiritimati", "Pacific/Pago_Pago"],
  // Clocks there change at midnight, by half an hour, or went past a whole day.
  ...["Africa/Cairo", "America/Havana", "Asia/Beirut", "America/Sao_Paulo", "Australia/Lord_Howe"],
  ...["Pacific/Chatham", "America/Asuncion", "Africa/Casablanca"],
];
const instant = fc.integer({ min: Date.parse("2012-01-01T00:00:00Z"), max: Date.parse("2034-01-01T00:00:00Z") });

test("days follow each other, each begins at its start, and every instant is in one", () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), instant, (zone, at) => {
      const day = dayAt(at, zone);
      const [start, end] = [startOfDay(day, zone), turnAfter("daily", at, zone)];
      assert.ok(start <= at && at < end, `${zone} ${new Date(at).toISOString()}`);
      assert.ok(isStartOfDay(start, zone) && isStartOfDay(end, zone));
      assert.equal([dayAt(end - 1, zone), dayAt(end, zone)], [day, dayAfter(day)], zone);
      assert.ok([23, 23.5, 24, 24.5, 25].includes((end - start) / 3_600_000), String(end - start));
    }),
    { numRuns: 3_000 },
  );
});

test("every turn is after its instant, at the start of a day but for hours, and the next is after it", () => {
  const units = fc.constantFrom("hourly", "daily", "weekly", "monthly", "quarterly");
  fc.assert(
    fc.property(fc.constantFrom(...zones), units, instant, (zone, unit, at) => {
      const turn = turnAfter(unit, at, zone);
      assert.ok(turn > at);
      assert.is(turnAfter(unit, turn - 1, zone), turn, "nothing turns between them");
      assert.ok(turnAfter(unit, turn, zone) > turn);
      if (unit !== "hourly") assert.ok(isStartOfDay(turn, zone));
      if (unit === "weekly") assert.is(new Date(dayAt(turn, zone)).getUTCDay(), 1);
      if (unit === "monthly" || unit === "quarterly") assert.ok(dayAt(turn, zone).endsWith("-01"));
    }),
    { numRuns: 3_000 },
  );
});

test("a day begins when the clocks say so, also where they change at midnight", () => {
  for (const [day, zone, start] of [
    ["2026-03-08", "America/New_York", "2026-03-08T05:00:00.000Z"],
    ["2026-03-09", "America/New_York", "2026-03-09T04:00:00.000Z"],
    ["2026-11-02", "America/New_York", "2026-11-02T05:00:00.000Z"],
    ["2026-04-24", "Africa/Cairo", "2026-04-23T22:00:00.000Z"],
    ["2026-10-30", "Africa/Cairo", "2026-10-29T22:00:00.000Z"],
    ["2026-11-01", "America/Havana", "2026-11-01T04:00:00.000Z"],
    ["2026-06-01", "Asia/Kolkata", "2026-05-31T18:30:00.000Z"],
  ] as const)
    assert.is(new Date(startOfDay(day, zone)).toISOString(), start, `${day} ${zone}`);
  assert.equal(["UTC", "Europe/London", "Mars/Olympus", "", undefined].map(isTimeZone), [
    true,
    true,
    false,
    false,
    false,
  ]);
});

test.run();
