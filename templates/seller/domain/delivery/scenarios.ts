import type { Call } from "../../handler.js";
import { ScenarioError, type Scenarios, textParam } from "../controller/scenario.js";
import { budgetOf, findBuy, type MediaBuy } from "../media-buys/media-buy.js";
import { deliveredByBuy, saveDelivered } from "./delivery.js";

function buyOrNone(call: Call, id: string): MediaBuy {
  const buy = findBuy(call, id);
  if (buy === undefined) throw new ScenarioError("NOT_FOUND", `no media buy ${id}`);
  return buy;
}

/** An amount of at least nothing. */
function amount(value: unknown, name: string): number {
  if (value === undefined) return 0;
  if (typeof value === "number" && value >= 0) return value;
  throw new ScenarioError("INVALID_PARAMS", `params.${name} must be a number of at least 0`);
}

/** `simulate_delivery` adds to what a buy delivered; `simulate_budget_spend` brings its spend to a share of the budget. */
export const scenarios: Scenarios = {
  simulate_delivery(params, call) {
    const buy = buyOrNone(call, textParam(params, "media_buy_id"));
    const { reported_spend: spent } = params as { reported_spend?: { amount?: unknown } };
    const added = {
      impressions: amount(params.impressions, "impressions"),
      clicks: amount(params.clicks, "clicks"),
      spend: amount(spent?.amount, "reported_spend.amount"),
      conversions: amount(params.conversions, "conversions"),
    };
    const before = deliveredByBuy(call, buy);
    const cumulative = {
      impressions: before.impressions + added.impressions,
      clicks: before.clicks + added.clicks,
      spend: before.spend + added.spend,
      conversions: before.conversions + added.conversions,
    };
    saveDelivered(call, buy, cumulative);
    return { simulated: added, cumulative };
  },
  simulate_budget_spend(params, call) {
    const percentage = amount(params.spend_percentage, "spend_percentage");
    const { media_buy_id: id } = params;
    if (id === undefined) return { simulated: { spend_percentage: percentage } };
    const buy = buyOrNone(call, textParam(params, "media_buy_id"));
    const spend = Math.round(budgetOf(buy) * percentage) / 100;
    saveDelivered(call, buy, { ...deliveredByBuy(call, buy), spend });
    return { simulated: { spend_percentage: percentage, spend, budget: budgetOf(buy), currency: buy.currency } };
  },
};
