/** Days of reports, `YYYY-MM-DD`, in the time zone of what was bought. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { dayAfter, dayAt } from "../../calendar.js";
import { ToolError } from "../../seller/tool-error.js";
import { endOf, type MediaBuy, startOf } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { summed } from "../frame/currency.js";
import type { DeliveredTotals } from "../ports/ad-server.js";
import { deliveredByPackage } from "./delivered.js";
import { zoneOf } from "./periods.js";
import { beginningOf, type DeliveryDays, nothing } from "./simulated.js";

/** Patterns of schemas take months and days that no calendar has. @throws ToolError INVALID_REQUEST */
export function checkDay(day: string | undefined, field: string): void {
  if (day === undefined) return;
  const ms = Date.parse(day);
  if (Number.isNaN(ms) || dayAt(ms) !== day)
    throw new ToolError("INVALID_REQUEST", `${day} is no day of the calendar`, { field });
}

export interface DeliveredDay {
  readonly date: string;
  readonly impressions: number;
  readonly spend: number;
}

const DAY_MS = 86_400_000;

/** Days of one breakdown at most, and those that are asked for at a time: each is a question to who has the figures. */
const MOST_DAYS = 366;
const AT_A_TIME = 7;

/** The days of the flight that were asked for and have begun; the last ones where there are too many. */
function daysOf({ now }: BehaviourCall, buy: MediaBuy, { from, before, timezone }: DeliveryDays): string[] {
  const begins = Date.parse(startOf(buy));
  const start = Math.max(begins, from === undefined ? -Infinity : beginningOf(from, timezone));
  const last = Math.min(
    Math.max(Date.parse(endOf(buy)), begins),
    now.getTime(),
    before === undefined ? Infinity : beginningOf(before, timezone) - 1,
  );
  const first = Date.parse(dayAt(start, timezone));
  const end = Math.max(Date.parse(dayAt(last, timezone)), first);
  const count = Math.min((end - first) / DAY_MS + 1, MOST_DAYS);
  return Array.from({ length: count }, (_, at) => dayAt(end - (count - 1 - at) * DAY_MS));
}

/** What each package delivered, day by day, in its own time zone; what is known of no day stands on the last one. */
export async function deliveredByDay(
  call: BehaviourCall,
  buy: MediaBuy,
  range: DeliveryDays,
): Promise<ReadonlyMap<string, readonly DeliveredDay[]>> {
  const zones = await Promise.all(buy.packages.map((one) => zoneOf(call, one)));
  const byZone = new Map<string, ReadonlyMap<string, readonly DeliveredDay[]>>();
  for (const timezone of new Set(zones)) byZone.set(timezone, await rowsIn(call, buy, { ...range, timezone }));
  return new Map(buy.packages.map(({ package_id: id }, at) => [id, byZone.get(zones[at]!)?.get(id) ?? []]));
}

async function rowsIn(
  call: BehaviourCall,
  buy: MediaBuy,
  range: DeliveryDays,
): Promise<ReadonlyMap<string, readonly DeliveredDay[]>> {
  const totals = await deliveredByPackage(call, buy, range);
  const { timezone } = range;
  const days = daysOf(call, buy, range);
  const figures: ReadonlyMap<string, DeliveredTotals>[] = [];
  for (let at = 0; at < days.length; at += AT_A_TIME) {
    await nextTurn();
    const some = days.slice(at, at + AT_A_TIME);
    const asked = (day: string) =>
      deliveredByPackage(call, buy, { from: day, before: dayAfter(day), timezone, dated: true });
    figures.push(...(await Promise.all(some.map(asked))));
  }
  return new Map(
    [...totals].map(([id, total]) => [
      id,
      rowsOf(
        days,
        figures.map((one) => one.get(id) ?? nothing),
        total,
      ),
    ]),
  );
}

function rowsOf(days: readonly string[], figures: readonly DeliveredTotals[], total: DeliveredTotals): DeliveredDay[] {
  const rows = days.map((date, at) => ({
    date,
    impressions: figures[at]?.impressions ?? 0,
    spend: figures[at]?.spend ?? 0,
  }));
  const last = rows.at(-1);
  if (last !== undefined) {
    const known = rows.reduce((sum, one) => sum + one.impressions, 0);
    const spent = rows.map((one) => one.spend);
    last.impressions += Math.max(0, total.impressions - known);
    last.spend = summed([last.spend, Math.max(0, summed([total.spend, -summed(spent)]))]);
  }
  return rows.filter(({ impressions, spend }) => impressions !== 0 || spend !== 0);
}
