/** Times that figures are told of: the period of a report that is sent, and the windows of one that is asked for, in UTC. */
import type { JsonObject } from "../../contract/index.js";
import type { MediaBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { productsBought, reportingOf } from "../products/products.js";
import type { DeliveryDays } from "./simulated.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Unix milliseconds; the end is not part of it. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const frequenciesOf = ({ available_reporting_frequencies: sent, windowed_pull_granularities: asked }: JsonObject) =>
  [listed(sent), listed(asked)] as const;

/** What all products of a buy say of reports. */
export async function reportingOfAll(
  call: BehaviourCall,
  { packages }: Pick<MediaBuy, "packages">,
): Promise<readonly JsonObject[]> {
  return (await productsBought(call, packages)).map((one) => reportingOf(one));
}

/**
 * What figures are asked for to report a period: hours where it has some and every product of the buy has figures of them, else
 * whole days. Periods that follow each other share none.
 */
export async function figuresFor(call: BehaviourCall, buy: MediaBuy, { start, end }: Period): Promise<DeliveryDays> {
  const reporting = await reportingOfAll(call, buy);
  const hourly = reporting.every((one) => frequenciesOf(one).some((some) => some.includes("hourly")));
  const unit = hourly ? HOUR_MS : DAY_MS;
  const [from, before] = [Math.floor(start / unit) * unit, Math.ceil(end / unit) * unit];
  const whole = from % DAY_MS === 0 && before % DAY_MS === 0;
  const shown = (ms: number): string => {
    const iso = new Date(ms).toISOString();
    return whole ? iso.slice(0, 10) : iso;
  };
  return { from: shown(from), before: shown(before), dated: true };
}

/** The first turn of an hour, a day and so on after a time. */
function turnAfter(granularity: string, ms: number): number {
  const date = new Date(ms);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (granularity) {
    case "hourly":
      return (Math.floor(ms / HOUR_MS) + 1) * HOUR_MS;
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

/** Windows that part a time; each begins where the one before ends. @param most undefined where there are more */
export function windowsIn(granularity: string, { start, end }: Period, most: number): readonly Period[] | undefined {
  const found: Period[] = [];
  for (let at = start; at < end; at = found.at(-1)!.end) {
    if (found.length === most) return undefined;
    found.push({ start: at, end: Math.min(turnAfter(granularity, at), end) });
  }
  return found;
}
