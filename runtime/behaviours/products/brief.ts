/** Money and dates that a brief states in words. */
import type { Money } from "./terms.js";

const signs: Readonly<Record<string, string>> = { $: "USD", "€": "EUR", "£": "GBP" };

const AMOUNT = /(?:\b([A-Z]{3})\s?|([$€£]))(\d{1,3}(?:,\d{3})+|\d+)(\.\d{1,2})?(?:\s?([kKmM])\b)?/;

/** The first sum that is named with its currency. */
export function statedBudget(brief: string): Money | undefined {
  const found = AMOUNT.exec(brief);
  const currency = found?.[1] ?? signs[found?.[2] ?? ""];
  if (found === null || currency === undefined) return undefined;
  const scale = { k: 1_000, m: 1_000_000 }[(found[5] ?? "").toLowerCase()] ?? 1;
  const amount = Number(`${found[3]?.replaceAll(",", "")}${found[4] ?? ""}`) * scale;
  return amount > 0 && Number.isFinite(amount) ? { amount, currency } : undefined;
}

const DAY = "([A-Z][a-z]+ \\d{1,2}(?:, ?\\d{4})?|\\d{4}-\\d{2}-\\d{2})";
const FLIGHT = new RegExp(`\\bfrom ${DAY} (?:through|to|until) ${DAY}`);

/** The days named as "from ... through ...", the last of them included; undefined where there is no year to them. */
export function statedFlight(brief: string): { readonly start_time: string; readonly end_time: string } | undefined {
  const found = FLIGHT.exec(brief);
  if (found === null) return undefined;
  const last = found[2]!;
  const year = /\d{4}/.exec(last)?.[0];
  const first = /\d{4}/.test(found[1]!) || year === undefined ? found[1]! : `${found[1]}, ${year}`;
  const [start, end] = [Date.parse(`${first} 00:00:00 UTC`), Date.parse(`${last} 23:59:59 UTC`)];
  const [isoStart, isoEnd] = [Date.parse(`${first}T00:00:00Z`), Date.parse(`${last}T23:59:59Z`)];
  const from = Number.isNaN(start) ? isoStart : start;
  const until = Number.isNaN(end) ? isoEnd : end;
  if (year === undefined || Number.isNaN(from) || Number.isNaN(until) || until <= from) return undefined;
  return { start_time: new Date(from).toISOString(), end_time: new Date(until).toISOString() };
}

const UNIT_DAYS = { day: 1, week: 7, month: 30 } as const;
const COUNTED: Readonly<Record<string, number>> = { a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, six: 6, eight: 8 };
const EXTENSION = /\bextend\b[^.]*?\bby (\d{1,3}|[a-z]+) (day|week|month)s?\b/i;

/** By how much a flight is to be longer, in milliseconds. */
export function statedExtension(ask: string): number | undefined {
  const [, count = "", unit = ""] = EXTENSION.exec(ask) ?? [];
  const many = COUNTED[count.toLowerCase()] ?? Number(count || Number.NaN);
  const days = UNIT_DAYS[unit.toLowerCase() as keyof typeof UNIT_DAYS];
  return Number.isFinite(many) && days !== undefined ? many * days * 86_400_000 : undefined;
}
