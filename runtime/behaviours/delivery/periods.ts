/**
 * Times that figures are told of: the period of a report that is sent, and the windows of one that is asked for, in the time zone of
 * what was bought.
 */
import { dayAfter, dayAt, isStartOfDay, isTimeZone, turnAfter, UTC } from "../../calendar.js";
import type { JsonObject } from "../../contract/index.js";
import { AdbindError } from "../../errors.js";
import type { BuyPackage, MediaBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { itemsIn } from "../frame/items-in.js";
import { findProduct, productsBought, reportingOf } from "../products/products.js";
import type { DeliveryDays } from "./simulated.js";

const HOUR_MS = 3_600_000;

/** Unix milliseconds; the end is not part of it. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

const frequenciesOf = ({ available_reporting_frequencies: sent, windowed_pull_granularities: asked }: JsonObject) =>
  [itemsIn(sent), itemsIn(asked)] as const;

/** What all products of a buy say of reports. */
export async function reportingOfAll(
  call: BehaviourCall,
  { packages }: Pick<MediaBuy, "packages">,
): Promise<readonly JsonObject[]> {
  return (await productsBought(call, packages)).map((one) => reportingOf(one));
}

/** The time zone a product is reported in, as it says itself. @throws AdbindError `port_answer_invalid` */
function zoneSaid({ timezone }: JsonObject): string {
  if (isTimeZone(timezone)) return timezone;
  throw new AdbindError("port_answer_invalid", `a product is reported in the time zone ${String(timezone)}`, {
    where: "reporting_capabilities.timezone of a product of the port catalogue",
    remedy: 'give "UTC" or a name as America/New_York',
  });
}

/** Releases before said that all periods are UTC's, whatever a product says. */
const knowsZones = (call: BehaviourCall): boolean =>
  call.shapes.answer("get_media_buy_delivery").has("reporting_period", "timezone");

/** The time zone a package is reported in. */
export const zoneOf = async (call: BehaviourCall, { product_id }: Pick<BuyPackage, "product_id">): Promise<string> =>
  knowsZones(call) ? zoneSaid(reportingOf(await findProduct(call, product_id))) : UTC;

/** The one that all of them are reported in; undefined where they are reported in several. */
export async function sharedZone(
  call: BehaviourCall,
  packages: readonly Pick<BuyPackage, "product_id">[],
): Promise<string | undefined> {
  const zones = new Set(await Promise.all(packages.map((one) => zoneOf(call, one))));
  return zones.size > 1 ? undefined : ([...zones][0] ?? UTC);
}

/** The one that a buy's reports and windows go by, though packages may come that are reported in another: that of its first. */
export const buyZone = (call: BehaviourCall, [first]: readonly BuyPackage[]): Promise<string> | string =>
  first === undefined ? UTC : zoneOf(call, first);

/**
 * What figures are asked for to report a period: hours where it has some and every product of the buy has figures of them, else
 * whole days. Periods that follow each other share none.
 */
export async function figuresFor(
  call: BehaviourCall,
  buy: MediaBuy,
  { start, end, timezone }: Period & { readonly timezone: string },
): Promise<DeliveryDays> {
  const dated = { timezone, dated: true } as const;
  const [first, last] = [dayAt(start, timezone), dayAt(end, timezone)];
  const whole = [start, end].every((at) => isStartOfDay(at, timezone));
  const reporting = await reportingOfAll(call, buy);
  const hourly = reporting.every((one) => frequenciesOf(one).some((some) => some.includes("hourly")));
  if (whole || !hourly) return { from: first, before: isStartOfDay(end, timezone) ? last : dayAfter(last), ...dated };
  const hours = [turnAfter("hourly", start, timezone) - HOUR_MS, turnAfter("hourly", end - 1, timezone)];
  const [from, before] = hours.map((ms) => new Date(ms).toISOString());
  return { from, before, ...dated };
}

/** Windows that part a time; each begins where the one before ends. @param most undefined where there are more */
export function windowsIn(
  granularity: string,
  { start, end, timezone }: Period & { readonly timezone: string },
  most: number,
): readonly Period[] | undefined {
  const found: Period[] = [];
  for (let at = start; at < end; at = found.at(-1)!.end) {
    if (found.length === most) return undefined;
    found.push({ start: at, end: Math.min(turnAfter(granularity, at, timezone), end) });
  }
  return found;
}
