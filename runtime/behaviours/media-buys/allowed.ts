/** What the products of a buy allow to be done with it, each with its own packages: where one says so, that and nothing else. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { actionsIn, type BuyState, isLivePackage, type MediaBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { productsBought } from "../products/products.js";
import { type AttemptedAction, type AttemptedUpdate, attempted } from "./attempts.js";
import { checkRights, rightsOf } from "./rights.js";

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
  /** What of a cap may be changed after it is bought; undefined where the product does not say. */
  readonly mutable: readonly string[] | undefined;
}

/** Undefined where no product of the buy says anything. */
export async function allowedActions(call: BehaviourCall, buy: MediaBuy): Promise<readonly Sold[] | undefined> {
  const live = buy.packages.filter(isLivePackage);
  const packages = live.length > 0 ? live : buy.packages;
  const named = packages.filter(({ product_id }) => product_id !== "");
  const products = new Map((await productsBought(call, named)).map((one) => [one?.product_id, one]));
  const sold = packages.map(({ package_id: id, product_id }): Sold => {
    const { allowed_actions, overlay_support: support } = products.get(product_id)?.more ?? {};
    const caps = isJsonObject(support) ? support.frequency_cap_support : undefined;
    const mutable = isJsonObject(caps) ? (caps.mutable_fields as readonly string[] | undefined) : undefined;
    return { id, allowed: allowed_actions as readonly AllowedAction[] | undefined, mutable };
  });
  return sold.every(({ allowed, mutable }) => allowed === undefined && mutable === undefined) ? undefined : sold;
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
  update_pacing: "update_packages",
  update_bidding: "update_packages",
  update_frequency_caps: "update_packages",
  remove_packages: "update_packages",
};

const isNow = ({ allowed_statuses: states }: AllowedAction, state: BuyState): boolean =>
  states?.includes(state) ?? true;

/** What a package allows, by this word or by the older one; a product that says nothing allows what the state does. */
const allowing = ({ allowed, mutable }: Sold, action: string, state: BuyState): readonly AllowedAction[] =>
  action === "update_frequency_caps" && mutable?.length === 0
    ? []
    : (allowed ?? actionsIn(state).map((one): AllowedAction => ({ action: one, modes: ["self_serve"] }))).filter(
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

/** Why a package's product does not let it be done so; undefined where it does. */
function hindrance(sold: Sold, { action, members = [] }: AttemptedAction, state: BuyState): string | undefined {
  const { mutable } = sold;
  const caps = action === "update_frequency_caps";
  if (caps && mutable !== undefined && members.some((one) => !mutable.includes(one))) return "not_supported_on_product";
  if (sold.allowed === undefined) return undefined;
  const own = allowing(sold, action, state);
  const now = own.filter((one) => isNow(one, state));
  if (own.length === 0) return "not_supported_on_product";
  if (now.length === 0) return "wrong_status";
  return now.some(({ modes }) => modes[0] === "self_serve") ? undefined : "mode_mismatch";
}

/**
 * Looks an update through by the rights that were agreed to, or by what the products allow.
 * @throws ToolError ACTION_NOT_ALLOWED with what is allowed now; REQUOTE_REQUIRED for more than was agreed to
 */
export async function checkAllowed(
  call: BehaviourCall,
  buy: MediaBuy,
  state: BuyState,
  update: AttemptedUpdate,
): Promise<void> {
  const rights = rightsOf(buy);
  if (rights !== undefined) return checkRights(call, { buy, state, rights }, attempted(buy, update));
  const all = call.shapes.knowsError("ACTION_NOT_ALLOWED") ? await allowedActions(call, buy) : undefined;
  if (all === undefined) return;
  for (const attempt of attempted(buy, update)) {
    const { action, to } = attempt;
    const meant = all.filter(({ id }) => to?.includes(id) ?? true);
    const reason = meant.map((one) => hindrance(one, attempt, state)).find((one) => one !== undefined);
    if (reason === undefined) continue;
    throw new ToolError("ACTION_NOT_ALLOWED", `${action} is not to be done so: ${reason.replaceAll("_", " ")}`, {
      recovery: reason === "not_supported_on_product" ? "terminal" : "correctable",
      details: { attempted_action: action, reason, currently_available_actions: shownActions(all, state) },
    });
  }
}
