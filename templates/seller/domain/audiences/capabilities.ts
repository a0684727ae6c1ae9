import type { JsonObject } from "adbind/contract";
import { MINIMUM_SIZE } from "./audiences.js";

export const capabilities: JsonObject = {
  media_buy: {
    features: { audience_targeting: true },
    audience_targeting: {
      supported_identifier_types: ["hashed_email", "hashed_phone"],
      minimum_audience_size: MINIMUM_SIZE,
    },
  },
};
