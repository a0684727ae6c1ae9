/** What an update of a buy comes to, in the words that products and agreements have for it. */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../contract/index.js";
import { budgetOf, endOf, isLivePackage, type MediaBuy, startOf } from "../buys/buys.js";
import type { PackageUpdate } from "./changed-package.js";

export interface AttemptedUpdate {
  readonly canceled?: boolean;
  readonly paused?: boolean;
  readonly start_time?: string;
  readonly end_time?: string;
  readonly pacing?: unknown;
  readonly bidding?: unknown;
  readonly frequency_cap?: unknown;
  readonly total_budget?: { readonly amount: number };
  readonly new_packages?: readonly unknown[];
  readonly packages?: readonly PackageUpdate[];
}

/** From what to what: money in the buy's currency, times in milliseconds, packages in number. */
export interface MeasuredChange {
  readonly before: number;
  readonly after: number;
}

/** Something that an update does, to the packages that are named, or to all. */
export interface AttemptedAction {
  readonly action: string;
  /** Where it stands in the request. */
  readonly field: string;
  readonly to?: readonly string[];
  readonly change?: MeasuredChange;
  /** Of a cap, what of it is another. */
  readonly members?: readonly string[];
}

interface Named {
  readonly one: PackageUpdate;
  readonly field: string;
}

/** Members of one that the other does not have so. */
const differing = (names: Iterable<string>, one: JsonObject, other: JsonObject): string[] =>
  [...names].filter((name) => !isDeepStrictEqual(one[name] ?? undefined, other[name] ?? undefined));

const changesKeywords = (one: PackageUpdate): boolean =>
  [one.keyword_targets_add, one.keyword_targets_remove, one.negative_keywords_add, one.negative_keywords_remove].some(
    (keywords) => keywords !== undefined && keywords.length > 0,
  );

function targeting(buy: MediaBuy, { one, field }: Named): AttemptedAction[] {
  const { terms } = buy.packages.find(({ package_id }) => package_id === one.package_id) ?? {};
  const before = (terms?.targeting_overlay ?? {}) as JsonObject;
  const wanted = (one.targeting_overlay ?? {}) as JsonObject;
  const names = differing(Object.keys(wanted), wanted, before);
  const to = [one.package_id];
  const cap = (wanted.frequency_cap ?? {}) as JsonObject;
  const held = (before.frequency_cap ?? {}) as JsonObject;
  const members = differing(new Set([...Object.keys(cap), ...Object.keys(held)]), cap, held);
  const capped = { action: "update_frequency_caps", field: `${field}.targeting_overlay.frequency_cap`, to, members };
  const others = names.some((name) => name !== "frequency_cap") || changesKeywords(one);
  return [
    ...(names.includes("frequency_cap") ? [capped] : []),
    ...(others ? [{ action: "update_targeting", field: `${field}.targeting_overlay`, to }] : []),
  ];
}

const raised = (field: string, change: MeasuredChange, to?: readonly string[]): AttemptedAction[] => {
  const { before, after } = change;
  const action = after > before ? "increase_budget" : "decrease_budget";
  return after === before ? [] : [{ action, field, change, ...(to !== undefined && { to }) }];
};

const settings = [
  { name: "pacing", action: "update_pacing" },
  { name: "bidding", action: "update_bidding" },
] as const;

function ofPackage(buy: MediaBuy, named: Named): AttemptedAction[] {
  const { one, field } = named;
  const to = [one.package_id];
  const own = buy.packages.find(({ package_id }) => package_id === one.package_id);
  if (one.canceled === true) return [{ action: "remove_packages", field: `${field}.canceled`, to }];
  const { budget } = one;
  const wanted: { readonly pacing?: unknown; readonly bidding?: unknown } = one;
  return [
    ...(typeof budget === "number" && own !== undefined
      ? raised(`${field}.budget`, { before: own.budget, after: budget }, to)
      : []),
    ...settings.flatMap(({ name, action }) =>
      wanted[name] === undefined || isDeepStrictEqual(wanted[name], own?.terms[name])
        ? []
        : [{ action, field: `${field}.${name}`, to }],
    ),
    ...targeting(buy, named),
  ];
}

/** Dates of the whole, and of packages where the whole begins as before. */
function dates(
  buy: MediaBuy,
  { start_time: start, end_time: end }: AttemptedUpdate,
  live: readonly Named[],
): AttemptedAction[] {
  const shift = (field: string, from: string, to: string): AttemptedAction & { readonly change: MeasuredChange } => ({
    ...{ action: "update_flight_dates", field },
    change: { before: Date.parse(from), after: Date.parse(to) },
  });
  const ended = end === undefined ? undefined : shift("end_time", endOf(buy), end);
  const moved = ended === undefined ? 0 : ended.change.after - ended.change.before;
  const begun = start === undefined ? undefined : shift("start_time", startOf(buy), start);
  const begins = begun !== undefined && begun.change.before !== begun.change.after;
  return [
    ...(ended === undefined || moved === 0
      ? []
      : [{ ...ended, action: moved > 0 ? "extend_flight" : "shorten_flight" }]),
    ...(begins ? [begun] : live.flatMap((one) => packageDates(buy, one))),
  ];
}

function packageDates(buy: MediaBuy, { one, field }: Named): AttemptedAction[] {
  const own = buy.packages.find(({ package_id }) => package_id === one.package_id);
  return (["start_time", "end_time"] as const).flatMap((name) => {
    const wanted = one[name];
    if (wanted === undefined) return [];
    const change = { before: Date.parse(own?.[name] ?? wanted), after: Date.parse(wanted) };
    return [{ action: "update_flight_dates", field: `${field}.${name}`, to: [one.package_id], change }];
  });
}

/** What an update comes to, each once for every package that it is meant for. */
export function attempted(buy: MediaBuy, update: AttemptedUpdate): AttemptedAction[] {
  const { canceled, paused, total_budget: total, packages = [], new_packages: added = [] } = update;
  // What is canceled is canceled, whatever stands beside that.
  if (canceled === true) return [{ action: "cancel", field: "canceled" }];
  const named = packages.map((one, index): Named => ({ one, field: `packages[${index}]` }));
  const live = named.filter(({ one }) => one.canceled !== true);
  const before = buy.packages.filter(isLivePackage).length;
  return [
    ...(paused === undefined ? [] : [{ action: paused ? "pause" : "resume", field: "paused" }]),
    ...dates(buy, update, live),
    // Beside packages, the sum is only what they come to.
    ...(total === undefined || packages.length > 0 || update.new_packages !== undefined
      ? []
      : raised("total_budget.amount", { before: budgetOf(buy), after: total.amount })),
    ...(added.length === 0
      ? []
      : [{ action: "add_packages", field: "new_packages", change: { before, after: before + added.length } }]),
    ...settings.flatMap(({ name, action }) =>
      update[name] === undefined || isDeepStrictEqual(update[name], buy.terms[name]) ? [] : [{ action, field: name }],
    ),
    ...(update.frequency_cap === undefined || isDeepStrictEqual(update.frequency_cap, buy.terms.frequency_cap)
      ? []
      : [{ action: "update_media_buy_frequency_cap", field: "frequency_cap" }]),
    ...named.flatMap((one) => ofPackage(buy, one)),
  ];
}
