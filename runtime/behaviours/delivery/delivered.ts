/** What buys delivered: the ad server's figures, or who else reports; in development what the test controller adds. */

import { type BuyPackage, budgetOf, type MediaBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { DeliveredTotals } from "../ports/ad-server.js";

const simulated = collection<DeliveredTotals>("delivery");

export const nothing: DeliveredTotals = { impressions: 0, clicks: 0, spend: 0, conversions: 0 };

export const simulatedOf = async (call: BehaviourCall, { media_buy_id }: MediaBuy): Promise<DeliveredTotals> =>
  (await simulated.get(call, call.principal, media_buy_id)) ?? nothing;

export const simulateDelivery = (call: BehaviourCall, { media_buy_id }: MediaBuy, totals: DeliveredTotals): void =>
  simulated.put(call, call.principal, media_buy_id, totals);

const cents = (amount: number): number => Math.round(amount * 100) / 100;

export const added = (a: DeliveredTotals, b: DeliveredTotals): DeliveredTotals => ({
  impressions: a.impressions + b.impressions,
  clicks: a.clicks + b.clicks,
  spend: cents(a.spend + b.spend),
  conversions: a.conversions + b.conversions,
  ...((a.views ?? b.views) !== undefined && { views: (a.views ?? 0) + (b.views ?? 0) }),
});

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
export function deliveredByPackage(call: BehaviourCall, buy: MediaBuy): Promise<ReadonlyMap<string, DeliveredTotals>> {
  return call.once(`delivered ${buy.media_buy_id}`, async () => {
    const { adServer, reporting } = call.ports;
    const packageIds = buy.packages.map(({ package_id }) => package_id);
    const query = { principal: call.principal, mediaBuyId: buy.media_buy_id, packageIds };
    const booked = buy.booking === undefined ? undefined : adServer.delivery?.(buy.booking);
    const figures = (await reporting.delivery(query)) ?? (await booked) ?? {};
    const extra = await simulatedOf(call, buy);
    return new Map(
      buy.packages.map((one) => [one.package_id, added(figures[one.package_id] ?? nothing, shareOf(buy, one, extra))]),
    );
  });
}

/** Totals of the whole buy; what a test has simulated is not lost in rounding. */
export async function deliveredOf(call: BehaviourCall, buy: MediaBuy): Promise<DeliveredTotals> {
  const lines = [...(await deliveredByPackage(call, buy)).values()];
  const sum = lines.reduce(added, nothing);
  const extra = await simulatedOf(call, buy);
  const rounded = buy.packages.map((one) => shareOf(buy, one, extra)).reduce(added, nothing);
  return {
    ...added(sum, extra),
    impressions: sum.impressions - rounded.impressions + extra.impressions,
    clicks: sum.clicks - rounded.clicks + extra.clicks,
    spend: cents(sum.spend - rounded.spend + extra.spend),
    conversions: sum.conversions - rounded.conversions + extra.conversions,
  };
}
