import type { JsonObject } from "adbind/contract";

/** What properties are measured by here. */
export const capabilities: JsonObject = {
  governance: {
    property_features: [
      {
        feature_id: "brand_safety_score",
        type: "quantitative",
        range: { min: 0, max: 100 },
        description: "How safe the environment is for brands.",
      },
      {
        feature_id: "made_for_advertising",
        type: "binary",
        description: "Whether the property exists for its advertising.",
      },
    ],
  },
};
