/** What buys delivered: the ad server's figures, or who else reports; in development what the test controller adds. */

import { AdbindError } from "../../errors.js";
import type { BuyPackage, MediaBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { inCoins, summed } from "../frame/currency.js";
import type { DeliveredTotals } from "../ports/ad-server.js";
import { added, type DeliveryDays, lifetime, nothing, simulatedRows } from "./simulated.js";

/** Parts of a whole by their weight, each rounded; they come to the whole. */
function parted(whole: number, weights: readonly number[], rounded: (amount: number) => number): number[] {
  const total = weights.reduce((sum, one) => sum + one, 0);
  let weight = 0;
  let given = 0;
  return weights.map((one) => {
    weight += one;
    const upTo = weight === total ? whole : rounded((whole * weight) / total);
    const part = summed([upTo, -given]);
    given = upTo;
    return part;
  });
}

/** What packages weigh: their budgets. Nothing is delivered any more by what is canceled, unless all of it is. */
function weightsOf(packages: readonly BuyPackage[]): number[] {
  const live = packages.map(({ canceled, budget }) => (canceled === true ? 0 : budget));
  if (live.some((budget) => budget > 0)) return live;
  return packages.map(() => 1);
}

/** The packages' parts of what a whole buy delivered, in their order. */
function shares({ packages, currency }: MediaBuy, whole: DeliveredTotals): DeliveredTotals[] {
  const weights = weightsOf(packages);
  const units = (amount: number) => parted(amount, weights, Math.round);
  const [impressions, clicks, conversions] = [units(whole.impressions), units(whole.clicks), units(whole.conversions)];
  const spend = parted(whole.spend, weights, (amount) => inCoins(amount, currency));
  const views = whole.views === undefined ? undefined : units(whole.views);
  return packages.map((_, at) => ({
    impressions: impressions[at] ?? 0,
    clicks: clicks[at] ?? 0,
    spend: spend[at] ?? 0,
    conversions: conversions[at] ?? 0,
    ...(views !== undefined && { views: views[at] ?? 0 }),
  }));
}

const counted = ["impressions", "clicks", "spend", "conversions"] as const;

/**
 * Figures of packages, as whoever has them says. They are billed by, and plans are held to them: what is no amount is neither
 * told nor counted.
 * @throws AdbindError `port_answer_invalid`
 */
function checkedFigures(
  figures: Readonly<Record<string, DeliveredTotals>>,
  packageIds: readonly string[],
): Readonly<Record<string, DeliveredTotals>> {
  for (const id of packageIds) {
    const one = figures[id];
    if (one == null) continue;
    const wrong = [...counted, ...(one.views === undefined ? [] : (["views"] as const))].find(
      (name) => !(Number.isFinite(one[name]) && one[name]! >= 0),
    );
    if (wrong === undefined) continue;
    throw new AdbindError("port_answer_invalid", `${wrong} of package ${id} is ${String(one[wrong])}`, {
      where: "delivery of the port reporting or adServer",
      remedy: "give numbers of at least 0, each of them, or nothing of a package that nothing is known of",
    });
  }
  return figures;
}

/** Totals by package id. */
export function deliveredByPackage(
  call: BehaviourCall,
  buy: MediaBuy,
  days: DeliveryDays = lifetime,
): Promise<ReadonlyMap<string, DeliveredTotals>> {
  return call.once(`delivered ${buy.media_buy_id} ${JSON.stringify(days)}`, async () => {
    const { adServer, reporting } = call.ports;
    const { from, before, timezone } = days;
    const asked = { from, before, timezone };
    const packageIds = buy.packages.map(({ package_id }) => package_id);
    const query = { principal: call.principal, mediaBuyId: buy.media_buy_id, packageIds, ...asked };
    // One after the other: what nobody waits for any more would end the process where it fails.
    const ofAdServer = async () => (buy.booking === undefined ? undefined : adServer.delivery?.(buy.booking, asked));
    const figures = checkedFigures((await reporting.delivery(query)) ?? (await ofAdServer()) ?? {}, packageIds);
    // Row by row, so that days come to what all of them are.
    const extra = (await simulatedRows(call, buy, days)).map((row) => shares(buy, row));
    return new Map(
      buy.packages.map(({ package_id }, at) => [
        package_id,
        extra.map((row) => row[at] ?? nothing).reduce(added, figures[package_id] ?? nothing),
      ]),
    );
  });
}

/** Totals of the whole buy: what its packages come to. */
export const deliveredOf = async (
  call: BehaviourCall,
  buy: MediaBuy,
  days: DeliveryDays = lifetime,
): Promise<DeliveredTotals> => [...(await deliveredByPackage(call, buy, days)).values()].reduce(added, nothing);
