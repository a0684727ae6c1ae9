/** A seller that a test has begin anew: nothing goes on for the caller's orders once they are gone. */
import { freeTaskId } from "../../seller/ordered-tasks.js";
import { buyState, buysOf, type MediaBuy, terminalStates } from "../buys/buys.js";
import { ScenarioError } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { written } from "../frame/effects.js";
import { finishedOf, instructionsOf } from "./instructions.js";
import { tellAdServer } from "./telling.js";

/**
 * What goes on at the ad server is canceled there: nobody here would know of it any more. A refusal says that it is over.
 * @throws ScenarioError INVALID_STATE while the ad server does not answer: what the caller has stays, and it may ask again
 */
async function takeBack(call: BehaviourCall, buys: readonly MediaBuy[]): Promise<void> {
  if (call.ports.adServer.remembers === true) return;
  for (const buy of buys) {
    if (buy.booking === undefined || terminalStates.has(await buyState(call, buy))) continue;
    const { kind } = await tellAdServer(call, {
      ...{ key: `reset-${buy.booking.orderId}`, kind: "cancel", tool: "", state: "open", buy },
      ...{ writes: [], release: call.release.version, due: 0, attempts: 0 },
    });
    if (kind === "open")
      throw new ScenarioError("INVALID_STATE", `the ad server has not canceled ${buy.media_buy_id}: ask again`);
  }
}

/**
 * Tasks of orders go, those that wait, which nobody would ever end, and those that are over; what reports are due of a buy is not
 * sent any more.
 */
export async function resetOrders(call: BehaviourCall): Promise<void> {
  const { principal } = call;
  const { sender } = call.ctx;
  const buys = await buysOf(call);
  await takeBack(call, buys);
  for (const { taskId } of [...(await instructionsOf(call)), ...(await finishedOf(call))])
    if (taskId !== undefined) await freeTaskId(call.ctx, taskId, true);
  if (sender === undefined) return;
  for (const { media_buy_id: mediaBuyId, terms } of buys)
    if (terms.reporting_webhook !== undefined)
      call.ctx.effect((tx) => written(sender.channels.open({ mediaBuyId, principal }, { reporting: null }, { tx })));
}
