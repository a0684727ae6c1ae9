/** What a licence comes to, from its first day to its last. */
import { inCoins } from "../frame/currency.js";
import type { RightsPrice } from "../ports/brands.js";

const DAY_MS = 86_400_000;

/** Months begun between two days, the last one included. */
function monthsBegun(first: Date, last: Date): number {
  const years = last.getUTCFullYear() - first.getUTCFullYear();
  const months = 12 * years + last.getUTCMonth() - first.getUTCMonth();
  return last.getUTCDate() >= first.getUTCDate() ? months + 1 : months;
}

/** How often a price is paid. */
function periodsBegun(period: RightsPrice["period"], first: Date, last: Date): number {
  const days = Math.floor((last.getTime() - first.getTime()) / DAY_MS) + 1;
  switch (period) {
    case "daily":
      return days;
    case "weekly":
      return Math.ceil(days / 7);
    case "monthly":
      return monthsBegun(first, last);
    case "quarterly":
      return Math.ceil(monthsBegun(first, last) / 3);
    case "annual":
      return Math.ceil(monthsBegun(first, last) / 12);
    case "one_time":
    case undefined:
      return 1;
  }
}

export interface LicenceTime {
  /** A date such as 2027-03-31, or an instant on it. */
  readonly first: string;
  readonly last: string;
  readonly impressions?: number | undefined;
}

/** In the currency of the price; undefined where it is paid by the impression and nobody says how many. */
export function licenceCost({ model, price, period, currency }: RightsPrice, time: LicenceTime): number | undefined {
  if (model === "cpm")
    return time.impressions === undefined ? undefined : inCoins((price * time.impressions) / 1_000, currency);
  const [first, last] = [time.first, time.last].map((day) => new Date(day.slice(0, 10))) as [Date, Date];
  return inCoins(price * Math.max(1, periodsBegun(period, first, last)), currency);
}
