/** What create, update and lists say of a buy. */
import type { JsonObject } from "../../contract/index.js";
import {
  actionsIn,
  type BuyPackage,
  type BuyState,
  budgetOf,
  buyState,
  type MediaBuy,
  shownBuyPackage,
} from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import type { AnswerShape } from "../frame/shape.js";
import { findProduct } from "../products/products.js";

/**
 * The state of an answer's resource. Where the release has a field of its own for it, `status` is the task's; else it is
 * the resource's.
 */
const stated = (shape: AnswerShape, state: BuyState): JsonObject =>
  shape.has("media_buy_status") ? { media_buy_status: state, status: "completed" } : { status: state };

/** What a buyer may do, as releases that say how have it: at once, by himself. */
export async function availableActions(call: BehaviourCall, buy: MediaBuy, state: BuyState): Promise<JsonObject[]> {
  const usual = actionsIn(state);
  const own =
    usual.length === 0 ? [] : (await Promise.all(buy.packages.map((one) => productActions(call, one)))).flat();
  const more = new Map(own.filter(({ action }) => !usual.includes(action)).map((one) => [one.action, one]));
  return [
    ...usual.map((action) => ({ action, mode: "self_serve" })),
    ...[...more.values()].map(({ action, modes: [mode] }) => ({ action, mode })),
  ];
}

interface ProductAction {
  readonly action: string;
  readonly modes: readonly string[];
}

/** What a package's product allows beside. */
async function productActions(call: BehaviourCall, { product_id }: BuyPackage): Promise<readonly ProductAction[]> {
  const product = product_id === "" ? undefined : await findProduct(call, product_id);
  return (product?.more?.allowed_actions ?? []) as readonly ProductAction[];
}

/** What create and update answer with. */
async function shownAfterChange(
  call: BehaviourCall,
  shape: AnswerShape,
  buy: MediaBuy,
  more: JsonObject,
): Promise<JsonObject> {
  const state = await buyState(call, buy);
  return {
    media_buy_id: buy.media_buy_id,
    ...stated(shape, state),
    revision: buy.revision,
    currency: buy.currency,
    total_budget: budgetOf(buy),
    ...more,
    ...(buy.terms.invoice_recipient !== undefined && { invoice_recipient: buy.terms.invoice_recipient }),
    valid_actions: actionsIn(state),
    available_actions: await availableActions(call, buy, state),
  };
}

/** What a booked order is answered with, at once or by its task. */
export async function bookedAnswer(call: BehaviourCall, buy: MediaBuy): Promise<JsonObject> {
  const shape = call.shapes.answer("create_media_buy");
  const packages = buy.packages.map(shownBuyPackage);
  return shape.fit(await shownAfterChange(call, shape, buy, { packages, confirmed_at: buy.confirmed_at }));
}

/** What a change is answered with; all packages where it is not said which. */
export async function changedAnswer(
  call: BehaviourCall,
  buy: MediaBuy,
  affected?: ReadonlySet<string>,
): Promise<JsonObject> {
  const shape = call.shapes.answer("update_media_buy");
  const shown = buy.packages.filter(({ package_id }) => affected?.has(package_id) ?? true).map(shownBuyPackage);
  const more = { affected_packages: shown, implementation_date: buy.updated_at };
  return shape.fit(await shownAfterChange(call, shape, buy, more));
}
