import { budgetOf, findBuy, type MediaBuy } from "../buys/buys.js";
import { amountParam, type Behaviour, ScenarioError, type Scenarios, textParam } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { inCoins, summed } from "../frame/currency.js";
import { deliveryReport, reportDelivery } from "./report.js";
import { nothing, simulateDelivery, simulatedOf } from "./simulated.js";

async function buyOrNone(call: BehaviourCall, id: string): Promise<MediaBuy> {
  const buy = await findBuy(call, id);
  if (buy === undefined) throw new ScenarioError("NOT_FOUND", `no media buy ${id}`);
  return buy;
}

/** `simulate_delivery` adds to what a buy delivered; `simulate_budget_spend` brings its spend to a share of the budget. */
const scenarios: Scenarios = {
  async simulate_delivery(params, call) {
    const buy = await buyOrNone(call, textParam(params, "media_buy_id"));
    const { impressions, clicks, reported_spend: spent, conversions, delivery_date: day, ...rest } = params;
    const simulated = {
      impressions: amountParam(impressions, "impressions"),
      clicks: amountParam(clicks, "clicks"),
      spend: amountParam((spent as { amount?: unknown } | undefined)?.amount, "reported_spend.amount"),
      conversions: amountParam(conversions, "conversions"),
    };
    const { media_buy_id: _, ...more } = rest;
    await simulateDelivery(call, buy, { ...(typeof day === "string" && { day }), totals: simulated, more });
    return { simulated: { ...more, ...simulated }, cumulative: await simulatedOf(call, buy) };
  },
  async simulate_budget_spend(params, call) {
    const percentage = amountParam(params.spend_percentage, "spend_percentage");
    if (params.media_buy_id === undefined) return { simulated: { spend_percentage: percentage } };
    const buy = await buyOrNone(call, textParam(params, "media_buy_id"));
    const spend = inCoins((budgetOf(buy) * percentage) / 100, buy.currency);
    const before = await simulatedOf(call, buy);
    await simulateDelivery(call, buy, { totals: { ...nothing, spend: summed([spend, -before.spend]) } });
    return { simulated: { spend_percentage: percentage, spend, budget: budgetOf(buy), currency: buy.currency } };
  },
};

/** What buys delivered. */
export const deliveryBehaviour: Behaviour = {
  area: "delivery",
  needs: ["products"],
  tools: { get_media_buy_delivery: reportDelivery },
  capabilities: () => ({ media_buy: { reporting_delivery_methods: ["webhook"] } }),
  scenarios,
  report: deliveryReport,
};
