/** What buys delivered: the ad server's figures, or who else reports; in development what the test controller adds. */

import { type BuyPackage, budgetOf, type MediaBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import type { DeliveredTotals } from "../ports/ad-server.js";
import { added, cents, type DeliveryDays, nothing, simulatedOf } from "./simulated.js";

/** A package's part of what a whole buy delivered, by its share of the budget. */
function shareOf(buy: MediaBuy, { budget, canceled }: BuyPackage, whole: DeliveredTotals): DeliveredTotals {
  const total = budgetOf(buy);
  const share = canceled === true || total === 0 ? 0 : budget / total;
  return {
    impressions: Math.round(whole.impressions * share),
    clicks: Math.round(whole.clicks * share),
    spend: cents(whole.spend * share),
    conversions: Math.round(whole.conversions * share),
    ...(whole.views !== undefined && { views: Math.round(whole.views * share) }),
  };
}

/** Totals by package id. */
export function deliveredByPackage(
  call: BehaviourCall,
  buy: MediaBuy,
  days: DeliveryDays = {},
): Promise<ReadonlyMap<string, DeliveredTotals>> {
  return call.once(`delivered ${buy.media_buy_id} ${days.from} ${days.before}`, async () => {
    const { adServer, reporting } = call.ports;
    const packageIds = buy.packages.map(({ package_id }) => package_id);
    const query = { principal: call.principal, mediaBuyId: buy.media_buy_id, packageIds, ...days };
    const booked = buy.booking === undefined ? undefined : adServer.delivery?.(buy.booking, days);
    const figures = (await reporting.delivery(query)) ?? (await booked) ?? {};
    const extra = await simulatedOf(call, buy, days);
    return new Map(
      buy.packages.map((one) => [one.package_id, added(figures[one.package_id] ?? nothing, shareOf(buy, one, extra))]),
    );
  });
}

/** Totals of the whole buy; what a test has simulated is not lost in rounding. */
export async function deliveredOf(
  call: BehaviourCall,
  buy: MediaBuy,
  days: DeliveryDays = {},
): Promise<DeliveredTotals> {
  const lines = [...(await deliveredByPackage(call, buy, days)).values()];
  const sum = lines.reduce(added, nothing);
  const extra = await simulatedOf(call, buy, days);
  const rounded = buy.packages.map((one) => shareOf(buy, one, extra)).reduce(added, nothing);
  return {
    ...added(sum, extra),
    impressions: sum.impressions - rounded.impressions + extra.impressions,
    clicks: sum.clicks - rounded.clicks + extra.clicks,
    spend: cents(sum.spend - rounded.spend + extra.spend),
    conversions: sum.conversions - rounded.conversions + extra.conversions,
  };
}
