/** A seller that a test has begin anew: nothing goes on for the caller's orders once they are gone. */
import { freeTaskId } from "../../seller/ordered-tasks.js";
import { buysOf } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { written } from "../frame/effects.js";
import { instructionsOf } from "./instructions.js";

/** Tasks that wait for an order, which nobody would ever end, go; what reports are due of a buy is not sent any more. */
export async function resetOrders(call: BehaviourCall): Promise<void> {
  const { principal } = call;
  const { sender } = call.ctx;
  for (const { taskId } of await instructionsOf(call))
    if (taskId !== undefined) await freeTaskId(call.ctx, taskId, true);
  if (sender === undefined) return;
  for (const { media_buy_id: mediaBuyId, terms } of await buysOf(call))
    if (terms.reporting_webhook !== undefined)
      call.ctx.effect((tx) => written(sender.channels.open({ mediaBuyId, principal }, { reporting: null }, { tx })));
}
