/** An ad server that takes everything, and notes what it is told. */
import type { AdServer, Order } from "../../runtime/behaviours/index.js";

/** @param more what it says of itself beside */
export function notingAdServer(more: Partial<AdServer> = {}) {
  const told: Order[] = [];
  /** How each of them came. */
  const kinds: string[] = [];
  const noting = (kind: string) => async (_: unknown, now: Order) => {
    told.push(now);
    kinds.push(kind);
  };
  const adServer: AdServer = {
    ...more,
    async book(now, { idempotencyKey }) {
      await noting("book")(undefined, now);
      return { orderId: idempotencyKey };
    },
    ...{ change: noting("change"), pause: noting("pause"), resume: noting("resume"), cancel: noting("cancel") },
  };
  return { adServer, told, kinds };
}
