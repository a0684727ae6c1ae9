/** What create, update and lists say of a buy. */
import type { JsonObject } from "../../contract/index.js";
import {
  actionsIn,
  type BuyPackage,
  type BuyState,
  budgetOf,
  buyState,
  isLivePackage,
  type MediaBuy,
  shownBuyPackage,
} from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import type { AnswerShape } from "../frame/shape.js";
import { creativeFor, readCreatives } from "../library/creatives.js";
import { shownNegotiated } from "../products/terms.js";
import { allowedActions, shownActions } from "./allowed.js";
import { capDay } from "./caps.js";
import { acceptedBy } from "./orders.js";
import { rightsOf, routedActions, shownRights } from "./rights.js";
import { controlsIn } from "./whole.js";

/**
 * The state of an answer's resource. Where the release has a field of its own for it, `status` is the task's; else it is
 * the resource's.
 */
const stated = (shape: AnswerShape, state: BuyState): JsonObject =>
  shape.has("media_buy_status") ? { media_buy_status: state, status: "completed" } : { status: state };

/** What a buyer may do by what was agreed to, else by what the products allow; undefined where neither says anything. */
async function saidActions(call: BehaviourCall, buy: MediaBuy, state: BuyState): Promise<JsonObject[] | undefined> {
  const rights = rightsOf(buy);
  if (rights !== undefined) return shownRights(rights, state);
  const allowed = await allowedActions(call, buy);
  return allowed && (actionsIn(state).length === 0 ? [] : shownActions(allowed, state));
}

/** What a buyer may do, as releases that say how have it: what is said of it, else anything, at once and by himself. */
export const availableActions = async (call: BehaviourCall, buy: MediaBuy, state: BuyState): Promise<JsonObject[]> =>
  (await saidActions(call, buy, state)) ?? actionsIn(state).map((action) => ({ action, mode: "self_serve" }));

/** What create and update answer with. */
async function shownAfterChange(
  call: BehaviourCall,
  shape: AnswerShape,
  buy: MediaBuy,
  more: JsonObject,
): Promise<JsonObject> {
  const state = await buyState(call, buy);
  // Tools of one step each name the tool that goes on; what products allow is said in their own words.
  const steps = shape.has("purchase_bindings") || shape.has("affected_package_ids");
  return {
    media_buy_id: buy.media_buy_id,
    ...stated(shape, state),
    revision: buy.revision,
    currency: buy.currency,
    total_budget: budgetOf(buy),
    ...controlsIn(buy.terms),
    ...capDay(call, buy),
    ...(buy.terms.name !== undefined && { name: buy.terms.name }),
    ...more,
    ...(buy.terms.invoice_recipient !== undefined && { invoice_recipient: buy.terms.invoice_recipient }),
    valid_actions: actionsIn(state),
    available_actions: steps ? await actionsByTask(call, buy, state) : await availableActions(call, buy, state),
  };
}

/** What a buyer may do, as releases have it that name the tool to do it by. */
export async function actionsByTask(call: BehaviourCall, buy: MediaBuy, state: BuyState): Promise<JsonObject[]> {
  const said = await saidActions(call, buy, state);
  if (said !== undefined) return routedActions(said);
  const known = actionsIn(state);
  const by = (task: string, names: readonly string[]) => names.map((action) => ({ task, action, mode: "self_serve" }));
  const budgets = ["increase_budget", "decrease_budget", "reallocate_budget"];
  const packages = ["update_targeting", "update_pacing", "remove_packages"];
  return [
    ...by("control_media_buy", [
      ...known.filter((one) => one === "pause" || one === "resume" || one === "cancel"),
      ...(known.includes("update_budget") ? budgets : []),
      ...(known.includes("update_packages") ? packages : []),
    ]),
    ...by("sync_creatives", known.includes("sync_creatives") ? ["update_creative_assignments"] : []),
  ];
}

/** The agreement a buy came of, as answers show it. */
export function shownAgreement(call: BehaviourCall, { accepted, media_buy_id, created_at }: MediaBuy): JsonObject {
  if (accepted === undefined) return {};
  const shown = shownNegotiated({
    ...accepted,
    ...acceptedBy(call, { media_buy_id }),
    accepted_at: accepted.accepted_at ?? created_at,
  });
  const { proposal_id, terms_digest } = accepted;
  return { accepted_proposal: shown, accepted_proposal_id: proposal_id, accepted_proposal_terms_digest: terms_digest };
}

/** Ids that a message names before it says how many more there are. */
const NAMED = 10;

/**
 * Who orders before he uploads is not refused: published suites do. That nobody knows an id is said for people, since no release has a
 * field for it: one that is misspelt would wait for ever, beside others that run.
 */
async function lackingCreatives(
  call: BehaviourCall,
  { account_id }: MediaBuy,
  packages: readonly BuyPackage[],
): Promise<JsonObject> {
  const named = packages.filter(isLivePackage).flatMap(({ creative_assignments: all }) => all);
  const ids = [...new Set(named.map(({ creative_id }) => creative_id))];
  await readCreatives(call, ids);
  const unknown: string[] = [];
  for (const id of ids) if ((await creativeFor(call, id, account_id)) === undefined) unknown.push(id);
  if (unknown.length === 0) return {};
  const more = unknown.length > NAMED ? ` and ${unknown.length - NAMED} more` : "";
  const list = unknown.slice(0, NAMED).join(", ") + more;
  return { message: `The account's library has no creative ${list}: what names it waits until it is sent.` };
}

/** What a booked order is answered with, at once or by its task. */
export async function bookedAnswer(call: BehaviourCall, buy: MediaBuy, tool = "create_media_buy"): Promise<JsonObject> {
  const shape = call.shapes.answer(tool);
  const packages = buy.packages.map(shownBuyPackage);
  const purchase_bindings = buy.packages.map(({ product_id, package_id }, purchase_index) => ({
    purchase_index,
    product_id,
    package_id,
  }));
  const more = { packages, purchase_bindings, confirmed_at: buy.confirmed_at, ...shownAgreement(call, buy) };
  const lacking = await lackingCreatives(call, buy, buy.packages);
  return { ...shape.fit(await shownAfterChange(call, shape, buy, more)), ...lacking };
}

/** What a change is answered with; all packages where it is not said which. */
export async function changedAnswer(
  call: BehaviourCall,
  buy: MediaBuy,
  affected?: ReadonlySet<string>,
  tool = "update_media_buy",
): Promise<JsonObject> {
  const shape = call.shapes.answer(tool);
  // What was agreed to is answered with the agreement.
  if (shape.has("accepted_proposal")) return bookedAnswer(call, buy, tool);
  const changed = buy.packages.filter(({ package_id }) => affected?.has(package_id) ?? true);
  const more = {
    affected_packages: changed.map(shownBuyPackage),
    affected_package_ids: changed.map(({ package_id }) => package_id),
    implementation_date: buy.updated_at,
  };
  const lacking = await lackingCreatives(call, buy, changed);
  return { ...shape.fit(await shownAfterChange(call, shape, buy, more)), ...lacking };
}
