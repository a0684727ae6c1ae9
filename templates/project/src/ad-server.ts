/**
 * Where orders run. Each function is called at least once, and always with the same `idempotencyKey` for the same wish:
 * give the key to your ad server, or look the order up by it before you make another. Throw a `ToolError` of adbind/seller
 * to refuse; anything else thrown means that nobody knows, and it is asked again until there is an answer.
 */
import { type AdServer, type AdServerCall, type DeliveredTotals, type Order, tellPlatform } from "adbind/behaviours";

/** Your ad server's API, told of every order where there is one; and orders by their key, forgotten with the process. */
const orderServer = process.env.AD_SERVER_URL;
const orders = new Map<string, Order>();

async function place(id: string, order: Order, call: AdServerCall): Promise<void> {
  orders.set(id, order);
  await tellPlatform(orderServer, "/orders", { id, ...order }, call);
}

const update: AdServer["change"] = ({ orderId }, order, call) => place(orderId, order, call);

export const adServer: AdServer = {
  ...(orderServer !== undefined && { upstream: true }),
  // What yours does not keep goes from here: buyers are told so, and their caps are refused.
  dailyCaps: ["media_buy", "package"],
  async book(order, call) {
    await place(call.idempotencyKey, order, call);
    return { orderId: call.idempotencyKey };
  },
  change: update,
  pause: update,
  resume: update,
  cancel: update,
  async delivery({ orderId }) {
    const nothing: DeliveredTotals = { impressions: 0, clicks: 0, spend: 0, conversions: 0 };
    return Object.fromEntries((orders.get(orderId)?.lines ?? []).map(({ packageId }) => [packageId, nothing]));
  },
};
