import type { JsonObject } from "adbind/contract";

export const capabilities: JsonObject = {
  media_buy: {
    features: { conversion_tracking: true },
    conversion_tracking: { supported_action_sources: ["website"], multi_source_event_dedup: false },
  },
};
