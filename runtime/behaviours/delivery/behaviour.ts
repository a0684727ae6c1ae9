import { budgetOf, findBuy, type MediaBuy } from "../buys/buys.js";
import { amountParam, type Behaviour, ScenarioError, type Scenarios, textParam } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { added, simulateDelivery, simulatedOf } from "./delivered.js";
import { deliveryReport, reportDelivery } from "./report.js";

async function buyOrNone(call: BehaviourCall, id: string): Promise<MediaBuy> {
  const buy = await findBuy(call, id);
  if (buy === undefined) throw new ScenarioError("NOT_FOUND", `no media buy ${id}`);
  return buy;
}

/** `simulate_delivery` adds to what a buy delivered; `simulate_budget_spend` brings its spend to a share of the budget. */
const scenarios: Scenarios = {
  async simulate_delivery(params, call) {
    const buy = await buyOrNone(call, textParam(params, "media_buy_id"));
    const { reported_spend: spent } = params as { reported_spend?: { amount?: unknown } };
    const simulated = {
      impressions: amountParam(params.impressions, "impressions"),
      clicks: amountParam(params.clicks, "clicks"),
      spend: amountParam(spent?.amount, "reported_spend.amount"),
      conversions: amountParam(params.conversions, "conversions"),
    };
    const cumulative = added(await simulatedOf(call, buy), simulated);
    simulateDelivery(call, buy, cumulative);
    return { simulated, cumulative };
  },
  async simulate_budget_spend(params, call) {
    const percentage = amountParam(params.spend_percentage, "spend_percentage");
    if (params.media_buy_id === undefined) return { simulated: { spend_percentage: percentage } };
    const buy = await buyOrNone(call, textParam(params, "media_buy_id"));
    const spend = Math.round(budgetOf(buy) * percentage) / 100;
    simulateDelivery(call, buy, { ...(await simulatedOf(call, buy)), spend });
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
