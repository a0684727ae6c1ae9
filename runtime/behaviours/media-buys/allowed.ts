/** What the products of a buy allow to be done with it: where they say so, that and nothing else. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type BuyState, budgetOf, endOf, type MediaBuy, startOf } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { findProduct } from "../products/products.js";
import type { PackageUpdate } from "./changed-package.js";

export interface AllowedAction {
  readonly action: string;
  readonly modes: readonly string[];
  /** In any, where left out. */
  readonly allowed_statuses?: readonly string[];
  readonly sla?: JsonObject;
  readonly terms_ref?: string;
}

/** Undefined where no product of the buy says anything. */
export async function allowedActions(
  call: BehaviourCall,
  buy: MediaBuy,
): Promise<readonly AllowedAction[] | undefined> {
  const ids = new Set(buy.packages.flatMap(({ product_id: id }) => (id === "" ? [] : [id])));
  const products = await Promise.all([...ids].map((id) => findProduct(call, id)));
  const all = products.flatMap((one) => (one?.more?.allowed_actions ?? []) as readonly AllowedAction[]);
  return all.length === 0 ? undefined : all;
}

/** Those of them that may be done in a state, as answers show them. */
export const shownActions = (all: readonly AllowedAction[], state: BuyState): JsonObject[] =>
  all
    .filter(({ allowed_statuses: states }) => states?.includes(state) ?? true)
    .map(({ action, modes: [mode], sla, terms_ref }) => ({
      action,
      mode,
      ...(sla !== undefined && { sla }),
      ...(terms_ref !== undefined && { terms_ref }),
    }));

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

/** What an update comes to, in the words that products use. */
function attempted(buy: MediaBuy, update: Update): string[] {
  const { canceled, paused, start_time: start, end_time: end, total_budget: total, packages = [] } = update;
  // What is canceled is canceled, whatever stands beside that.
  if (canceled === true) return ["cancel"];
  const live = packages.filter((one) => one.canceled !== true);
  const moves = (one: PackageUpdate): boolean => one.start_time !== undefined || one.end_time !== undefined;
  const budgets = live.flatMap(({ package_id, budget }) => {
    const before = buy.packages.find((one) => one.package_id === package_id)?.budget;
    return typeof budget !== "number" || before === undefined ? [] : raised(before, budget);
  });
  const moved = end === undefined ? 0 : Date.parse(end) - Date.parse(endOf(buy));
  const begins = start !== undefined && Date.parse(start) !== Date.parse(startOf(buy));
  return [
    ...(paused === undefined ? [] : [paused ? "pause" : "resume"]),
    ...(moved === 0 ? [] : [moved > 0 ? "extend_flight" : "shorten_flight"]),
    ...(begins || live.some(moves) ? ["update_flight_dates"] : []),
    ...budgets,
    // Beside packages, the sum is only what they come to.
    ...(total === undefined || packages.length > 0 || update.new_packages !== undefined
      ? []
      : raised(budgetOf(buy), total.amount)),
    ...((update.new_packages ?? []).length > 0 ? ["add_packages"] : []),
    ...(live.length < packages.length ? ["remove_packages"] : []),
    ...(live.some(retargets) ? ["update_targeting"] : []),
  ];
}

/** @throws ToolError ACTION_NOT_ALLOWED, with what is allowed now */
export async function checkAllowed(call: BehaviourCall, buy: MediaBuy, state: BuyState, update: Update): Promise<void> {
  const all = call.shapes.knowsError("ACTION_NOT_ALLOWED") ? await allowedActions(call, buy) : undefined;
  if (all === undefined) return;
  for (const action of attempted(buy, update)) {
    const own = all.filter((one) => one.action === action || one.action === coarse[action]);
    const now = own.filter(({ allowed_statuses: states }) => states?.includes(state) ?? true);
    const reason =
      own.length === 0
        ? "not_supported_on_product"
        : now.length === 0
          ? "wrong_status"
          : now.some(({ modes }) => modes[0] === "self_serve")
            ? undefined
            : "mode_mismatch";
    if (reason === undefined) continue;
    throw new ToolError("ACTION_NOT_ALLOWED", `${action} is not to be done so: ${reason.replaceAll("_", " ")}`, {
      recovery: reason === "not_supported_on_product" ? "terminal" : "correctable",
      details: { attempted_action: action, reason, currently_available_actions: shownActions(all, state) },
    });
  }
}
