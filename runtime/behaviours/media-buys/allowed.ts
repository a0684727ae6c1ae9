/** What the products of a buy allow to be done with it, each with its own packages: where one says so, that and nothing else. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { actionsIn, type BuyState, budgetOf, endOf, isLivePackage, type MediaBuy, startOf } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { productsBought } from "../products/products.js";
import type { PackageUpdate } from "./changed-package.js";

export interface AllowedAction {
  readonly action: string;
  readonly modes: readonly string[];
  /** In any, where left out. */
  readonly allowed_statuses?: readonly string[];
  readonly sla?: JsonObject;
  readonly terms_ref?: string;
}

/** A package that is still sold, and what its product says may be done with it; undefined where it says nothing. */
interface Sold {
  readonly id: string;
  readonly allowed: readonly AllowedAction[] | undefined;
}

/** Undefined where no product of the buy says anything. */
export async function allowedActions(call: BehaviourCall, buy: MediaBuy): Promise<readonly Sold[] | undefined> {
  const live = buy.packages.filter(isLivePackage);
  const packages = live.length > 0 ? live : buy.packages;
  const named = packages.filter(({ product_id }) => product_id !== "");
  const products = new Map((await productsBought(call, named)).map((one) => [one?.product_id, one]));
  const sold = packages.map(({ package_id: id, product_id }): Sold => {
    const { allowed_actions } = products.get(product_id)?.more ?? {};
    return { id, allowed: allowed_actions as readonly AllowedAction[] | undefined };
  });
  return sold.every(({ allowed }) => allowed === undefined) ? undefined : sold;
}

/** Actions on the whole of a buy: each of its packages has to allow them. */
const whole: ReadonlySet<string> = new Set([
  ...["pause", "resume", "cancel", "extend_flight", "shorten_flight", "update_dates", "add_packages"],
  "update_media_buy_frequency_cap",
]);

/** Older words that each stand for several of the later ones. */
const coarse: Readonly<Record<string, string>> = {
  increase_budget: "update_budget",
  decrease_budget: "update_budget",
  extend_flight: "update_dates",
  shorten_flight: "update_dates",
  update_flight_dates: "update_dates",
  update_targeting: "update_packages",
  remove_packages: "update_packages",
};

const isNow = ({ allowed_statuses: states }: AllowedAction, state: BuyState): boolean =>
  states?.includes(state) ?? true;

/** What a package allows, by this word or by the older one; a product that says nothing allows what the state does. */
const allowing = ({ allowed }: Sold, action: string, state: BuyState): readonly AllowedAction[] =>
  (allowed ?? actionsIn(state).map((one): AllowedAction => ({ action: one, modes: ["self_serve"] }))).filter(
    (one) => one.action === action || one.action === coarse[action],
  );

/** Those of them that may be done in a state, as answers show them: each once, with the packages that it is for. */
export function shownActions(all: readonly Sold[], state: BuyState): JsonObject[] {
  const names = all.flatMap((one) => one.allowed?.map(({ action }) => action) ?? actionsIn(state));
  return [...new Set(names)].flatMap((action) => {
    const by = all.map((one) => ({
      ...one,
      now: allowing(one, action, state).filter((allowed) => isNow(allowed, state)),
    }));
    const eligible = by.filter(({ now }) => now.length > 0);
    const isWhole = whole.has(action);
    // A product that says nothing hinders nothing.
    const hindered = isWhole && by.some(({ allowed, now }) => allowed !== undefined && now.length === 0);
    if (eligible.length === 0 || hindered) return [];
    const own = eligible.map(({ now }) => now.find((one) => one.action === action) ?? now[0]!);
    // What one of them leaves to a person is left to a person.
    const { modes, sla, terms_ref } = own.find(({ modes: [mode] }) => mode !== "self_serve") ?? own[0]!;
    return {
      ...{ action, mode: modes[0] },
      ...(sla !== undefined && { sla }),
      ...(terms_ref !== undefined && { terms_ref }),
      ...(!isWhole && eligible.length < all.length && { applicable_package_ids: eligible.map(({ id }) => id) }),
    };
  });
}

interface Update {
  readonly canceled?: boolean;
  readonly paused?: boolean;
  readonly start_time?: string;
  readonly end_time?: string;
  readonly total_budget?: { readonly amount: number };
  readonly new_packages?: readonly unknown[];
  readonly packages?: readonly PackageUpdate[];
}

const retargets = (one: PackageUpdate): boolean =>
  one.targeting_overlay !== undefined ||
  [one.keyword_targets_add, one.keyword_targets_remove, one.negative_keywords_add, one.negative_keywords_remove].some(
    (keywords) => keywords !== undefined && keywords.length > 0,
  );

const raised = (before: number, after: number): string[] =>
  after === before ? [] : [after > before ? "increase_budget" : "decrease_budget"];

/** Something that an update does, to the packages that are named, or to all. */
interface Attempt {
  readonly action: string;
  readonly to?: readonly string[];
}

const each = (actions: readonly string[], to?: readonly string[]): Attempt[] =>
  actions.map((action) => ({ action, ...(to !== undefined && { to }) }));

const idsOf = (packages: readonly PackageUpdate[]): string[] => packages.map(({ package_id }) => package_id);

/** An action on packages, where there are such packages. */
const on = (action: string, packages: readonly PackageUpdate[]): Attempt[] =>
  packages.length === 0 ? [] : [{ action, to: idsOf(packages) }];

/** What an update comes to, in the words that products use. */
function attempted(buy: MediaBuy, update: Update): Attempt[] {
  const { canceled, paused, start_time: start, end_time: end, total_budget: total, packages = [] } = update;
  // What is canceled is canceled, whatever stands beside that.
  if (canceled === true) return [{ action: "cancel" }];
  const live = packages.filter((one) => one.canceled !== true);
  const moves = (one: PackageUpdate): boolean => one.start_time !== undefined || one.end_time !== undefined;
  const budgets = live.flatMap(({ package_id, budget }) => {
    const before = buy.packages.find((one) => one.package_id === package_id)?.budget;
    return typeof budget !== "number" || before === undefined ? [] : each(raised(before, budget), [package_id]);
  });
  const moved = end === undefined ? 0 : Date.parse(end) - Date.parse(endOf(buy));
  const begins = start !== undefined && Date.parse(start) !== Date.parse(startOf(buy));
  return [
    ...(paused === undefined ? [] : each([paused ? "pause" : "resume"])),
    ...(moved === 0 ? [] : each([moved > 0 ? "extend_flight" : "shorten_flight"])),
    ...(begins ? each(["update_flight_dates"]) : on("update_flight_dates", live.filter(moves))),
    ...budgets,
    // Beside packages, the sum is only what they come to.
    ...(total === undefined || packages.length > 0 || update.new_packages !== undefined
      ? []
      : each(raised(budgetOf(buy), total.amount))),
    ...((update.new_packages ?? []).length > 0 ? each(["add_packages"]) : []),
    ...on(
      "remove_packages",
      packages.filter((one) => one.canceled === true),
    ),
    ...on("update_targeting", live.filter(retargets)),
  ];
}

/** Why a package's product does not let it be done so; undefined where it does. */
function hindrance(sold: Sold, action: string, state: BuyState): string | undefined {
  if (sold.allowed === undefined) return undefined;
  const own = allowing(sold, action, state);
  const now = own.filter((one) => isNow(one, state));
  if (own.length === 0) return "not_supported_on_product";
  if (now.length === 0) return "wrong_status";
  return now.some(({ modes }) => modes[0] === "self_serve") ? undefined : "mode_mismatch";
}

/** @throws ToolError ACTION_NOT_ALLOWED where a package's product does not allow it, with what is allowed now */
export async function checkAllowed(call: BehaviourCall, buy: MediaBuy, state: BuyState, update: Update): Promise<void> {
  const all = call.shapes.knowsError("ACTION_NOT_ALLOWED") ? await allowedActions(call, buy) : undefined;
  if (all === undefined) return;
  for (const { action, to } of attempted(buy, update)) {
    const meant = all.filter(({ id }) => to?.includes(id) ?? true);
    const reason = meant.map((one) => hindrance(one, action, state)).find((one) => one !== undefined);
    if (reason === undefined) continue;
    throw new ToolError("ACTION_NOT_ALLOWED", `${action} is not to be done so: ${reason.replaceAll("_", " ")}`, {
      recovery: reason === "not_supported_on_product" ? "terminal" : "correctable",
      details: { attempted_action: action, reason, currently_available_actions: shownActions(all, state) },
    });
  }
}
