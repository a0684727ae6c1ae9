import type { JsonObject } from "adbind/contract";

export const capabilities: JsonObject = {
  brand: {
    rights: true,
    right_types: ["brand_ip", "stock_media", "talent"],
    available_uses: ["ai_generated_image", "commercial", "editorial", "endorsement", "likeness"],
  },
};
