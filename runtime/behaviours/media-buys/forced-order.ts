/** An order that a test has made wait: what it would have booked is kept, and is there once the test says that it has been signed. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { type BuyPackage, buyState, isBuyState, type MediaBuy, saveBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { saveAgreement } from "./orders.js";

/** What is booked when a task ends, by the task's id. */
const kept = collection<MediaBuy>("forced_order");

/** The buy that an order would have made, until the task that was ordered instead has ended. */
export const keepForcedOrder = (call: BehaviourCall, taskId: string, buy: MediaBuy): void =>
  kept.put(call, call.principal, taskId, buy);

/** What a result may say of a package, as a package is kept. */
const ofPackage = [
  ...["package_id", "product_id", "pricing_option_id", "budget", "bid_price"],
  ...["start_time", "end_time", "paused"],
] as const;

/** The packages of the order, with what the result says of each; a result that lists none leaves them as they were ordered. */
function packagesIn(result: JsonObject, ordered: readonly BuyPackage[]): readonly BuyPackage[] {
  const rows = Array.isArray(result.packages) ? result.packages.filter(isJsonObject) : [];
  if (rows.length === 0) return ordered;
  return rows.flatMap((row, index) => {
    const under = ordered.find(({ product_id }) => product_id === row.product_id) ?? ordered[index];
    const said = Object.fromEntries(ofPackage.flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]])));
    return under === undefined ? [] : [{ ...under, ...said } as BuyPackage];
  });
}

/**
 * The result of a task names a media buy: whoever asks for it finds it, as the result says that it is. Nothing where the task
 * was of no order, or the result names none.
 */
export async function bookForcedOrder(call: BehaviourCall, taskId: string, result: JsonObject): Promise<void> {
  const order = await kept.get(call, call.principal, taskId);
  const { media_buy_id: id, confirmed_at: confirmed, revision } = result;
  if (order === undefined || typeof id !== "string") return;
  kept.remove(call, call.principal, taskId);
  const number = typeof revision === "number" ? revision : order.revision;
  const buy: MediaBuy = {
    ...order,
    media_buy_id: id,
    ...(typeof confirmed === "string" && { confirmed_at: confirmed }),
    updated_at: call.time,
    revision: number,
    packages: packagesIn(result, order.packages),
    history: order.history.map((one) => ({ ...one, revision: number })),
  };
  // Where the buy's state has no field of its own it stands in `status`; `completed` is there the task's.
  const { media_buy_status: status = result.status === "completed" ? undefined : result.status } = result;
  // A state that follows from the rest goes on with it: only another one is held.
  const held = isBuyState(status) && status !== (await buyState(call, buy)) ? { fixed: status } : {};
  saveAgreement(call, buy);
  await saveBuy(call, { ...buy, ...held });
}
