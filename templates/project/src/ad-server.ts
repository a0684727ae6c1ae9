/**
 * Where orders run. Each function is called at least once, and always with the same `idempotencyKey` for the same wish:
 * give the key to your ad server, or look the order up by it before you make another. Throw a `ToolError` of adbind/seller
 * to refuse; anything else thrown means that nobody knows, and it is asked again until there is an answer.
 */
import type { AdServer, DeliveredTotals, Order } from "adbind/behaviours";

/** In place of your ad server: orders by the key they were booked under. It forgets them with the process. */
const orders = new Map<string, Order>();

const update: AdServer["change"] = async ({ orderId }, order) => void orders.set(orderId, order);

export const adServer: AdServer = {
  async book(order, { idempotencyKey }) {
    orders.set(idempotencyKey, order);
    return { orderId: idempotencyKey };
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
