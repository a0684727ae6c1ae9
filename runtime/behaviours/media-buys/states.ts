/** What the ad server alone knows of an order: that it is over before its time, or was refused after it had been booked. */
import { AdbindError } from "../../errors.js";
import { eachAlone } from "../../queue/periodic.js";
import { BUYS, buysOf, findBuy, type MediaBuy, revised, saveBuy } from "../buys/buys.js";
import type { Upkeep } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { seldom } from "../frame/seldom.js";
import type { Booking } from "../ports/ad-server.js";
import { giveBackEnded } from "./governed.js";

/** Milliseconds between two times that an ad server is asked for the states of its orders, by each process. */
const PAUSE_MS = 60_000;
/** Orders of one buyer that are asked for at a time. */
const AT_ONCE = 4;

const endings = {
  completed: "The ad server has ended the order.",
  rejected: "The ad server has refused the order.",
} as const;

const mayEnd = ({ fixed, booking }: MediaBuy): boolean => fixed === undefined && booking !== undefined;

/** What the ad server says of an order; nothing where it fails, so that one that does is not asked the more often for it. */
async function stateOf(call: BehaviourCall, booking: Booking): Promise<keyof typeof endings | undefined> {
  try {
    const state = (await call.ports.adServer.state?.(booking)) ?? undefined;
    if (state === undefined || Object.hasOwn(endings, state)) return state;
    throw new AdbindError("port_answer_invalid", `an order is ${String(state)}`, {
      where: "state of the port adServer",
      remedy: `answer ${Object.keys(endings).join(", ")}, or nothing`,
    });
  } catch (error) {
    call.ctx.logger?.warn({ err: error, orderId: booking.orderId }, "the ad server did not say how an order is");
    return undefined;
  }
}

/** Asks for one order; its buyer finds it ended, and a plan that is kept here gets back what it has not cost. */
async function askState(call: BehaviourCall, id: string): Promise<void> {
  const buy = await findBuy(call, id);
  if (buy?.booking === undefined || !mayEnd(buy)) return;
  const state = await stateOf(call, buy.booking);
  if (state === undefined) return;
  const reason = state === "rejected" ? { rejection_reason: endings.rejected } : {};
  const ended: MediaBuy = { ...buy, fixed: state, ...reason };
  const saved = revised(ended, call.time, [{ action: state, summary: endings[state] }]);
  await saveBuy(call, saved);
  await giveBackEnded(call, saved);
}

/** Asks for all orders that are not over here, where the ad server can tell. */
export const askStates = seldom(PAUSE_MS, async ({ settings, stopping, onBehalf }: Upkeep) => {
  if (settings.ports.adServer.state === undefined) return;
  await eachAlone(
    await settings.store.owners(BUYS),
    async (principal) => {
      const live = await onBehalf(principal, async (call) => (await buysOf(call)).filter(mayEnd));
      const ids = live.map(({ media_buy_id }) => media_buy_id);
      const ask = (id: string) => onBehalf(principal, (call) => askState(call, id));
      await eachAlone(ids, ask, { stopping, atOnce: AT_ONCE });
    },
    { stopping },
  );
});
