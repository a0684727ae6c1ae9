import type { JsonObject } from "adbind/contract";

export const capabilities: JsonObject = {
  media_buy: {
    supported_pricing_models: ["cpm", "cpc", "cpcv", "cpa", "flat_rate"],
    reporting_delivery_methods: ["webhook"],
    features: { inline_creative_management: true, property_list_filtering: false },
  },
};
