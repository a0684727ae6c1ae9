import type { Behaviour } from "../frame/behaviour.js";
import { audienceScenarios } from "./audience-scenarios.js";
import { cappingOf } from "./caps.js";
import { createMediaBuy } from "./create.js";
import { takeFeedback } from "./feedback.js";
import { listMediaBuys } from "./list.js";
import { resetOrders } from "./reset.js";
import { buyScenarios } from "./scenarios.js";
import { updateMediaBuy } from "./update.js";
import { carryOn } from "./upkeep.js";

/** Orders, from the first to the last change. */
export const mediaBuysBehaviour: Behaviour = {
  area: "media-buys",
  needs: ["accounts", "products", "formats", "creatives", "delivery", "usage", "lifecycle", "events"],
  tools: {
    create_media_buy: createMediaBuy,
    update_media_buy: updateMediaBuy,
    get_media_buys: listMediaBuys,
    provide_performance_feedback: takeFeedback,
  },
  capabilities: ({ ports, shapes }) => ({
    media_buy: {
      ...cappingOf(ports.adServer, shapes),
      // Where nobody looks at creatives, none waits for it.
      ...(ports.creatives.review === undefined && { creative_approval_mode: "auto_approve" }),
      supported_pricing_models: ["cpm", "cpc", "cpcv", "cpa", "flat_rate"],
      features: { inline_creative_management: true, property_list_filtering: false },
    },
  }),
  scenarios: { ...buyScenarios, ...audienceScenarios },
  reset: resetOrders,
  upkeep: carryOn,
};
