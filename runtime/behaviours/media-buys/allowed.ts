/** What the products of a buy allow to be done with it: where they say so, that and nothing else. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type BuyState, endOf, type MediaBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { findProduct } from "../products/products.js";

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

interface Update {
  readonly canceled?: boolean;
  readonly paused?: boolean;
  readonly end_time?: string;
  readonly packages?: readonly {
    readonly package_id: string;
    readonly budget?: number | null;
    readonly targeting_overlay?: unknown;
  }[];
}

/** What an update comes to, in the words that products use. */
function attempted(buy: MediaBuy, { canceled, paused, end_time: end, packages = [] }: Update): string[] {
  const budgets = packages.flatMap(({ package_id, budget }) => {
    const before = buy.packages.find((one) => one.package_id === package_id)?.budget;
    if (typeof budget !== "number" || before === undefined || budget === before) return [];
    return [budget > before ? "increase_budget" : "decrease_budget"];
  });
  const moved = end === undefined ? 0 : Date.parse(end) - Date.parse(endOf(buy));
  return [
    ...(canceled === true ? ["cancel"] : []),
    ...(paused === undefined ? [] : [paused ? "pause" : "resume"]),
    ...(moved === 0 ? [] : [moved > 0 ? "extend_flight" : "shorten_flight"]),
    ...budgets,
    ...(packages.some((one) => one.targeting_overlay !== undefined) ? ["update_targeting"] : []),
  ];
}

/** @throws ToolError ACTION_NOT_ALLOWED, with what is allowed now */
export async function checkAllowed(call: BehaviourCall, buy: MediaBuy, state: BuyState, update: Update): Promise<void> {
  const all = call.shapes.knowsError("ACTION_NOT_ALLOWED") ? await allowedActions(call, buy) : undefined;
  if (all === undefined) return;
  for (const action of attempted(buy, update)) {
    const own = all.filter((one) => one.action === action);
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
