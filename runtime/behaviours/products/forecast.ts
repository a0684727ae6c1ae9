/** What money buys at a product's price, where the seller forecasts nothing better. */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Product } from "../ports/catalogue.js";

/** Multiples of the least that a package costs, at which it is reckoned. */
const STEPS = [1, 5, 20];
const LEAST = 1_000;

/** Undefined for what is not sold by the thousand: its price says nothing of how much it is. */
export function priceForecast(
  { time }: BehaviourCall,
  { product_id, pricing_options }: Product,
): JsonObject | undefined {
  const option = pricing_options.find(({ pricing_model }) => pricing_model === "cpm");
  const price = option?.fixed_price ?? option?.floor_price;
  if (option === undefined || price === undefined || price <= 0) return undefined;
  const least = Math.max(option.min_spend_per_package ?? 0, LEAST);
  return {
    method: "estimate",
    forecast_range_unit: "spend",
    currency: option.currency,
    generated_at: time,
    points: STEPS.map((step) => {
      const budget = step * least;
      // A bid above the floor buys less: the floor's is the most.
      return {
        product_id,
        budget,
        metrics: {
          impressions: {
            high: Math.floor((budget / price) * 1_000),
            mid: Math.floor((budget / price) * 900),
            low: Math.floor((budget / price) * 500),
          },
        },
      };
    }),
  };
}
