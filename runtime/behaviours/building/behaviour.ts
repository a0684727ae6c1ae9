import { formatOptions } from "../formats/options.js";
import type { Behaviour } from "../frame/behaviour.js";
import { buildCreative } from "./build.js";
import { creativeDelivery } from "./delivery.js";
import { serveHosted } from "./hosted.js";
import { previewCreative } from "./preview.js";

/** Making creatives, showing them, and serving them by tags. */
export const buildingBehaviour: Behaviour = {
  area: "building",
  needs: ["formats", "creatives", "usage"],
  tools: {
    build_creative: buildCreative,
    preview_creative: previewCreative,
    get_creative_delivery: creativeDelivery,
  },
  /** A library is one that can be looked into. */
  capabilities: ({ tools, formats, agentUrl, word }) => ({
    creative: {
      [`bills_through_${word}`]: false,
      // Without references to formats: this is what is built, whatever it is called elsewhere.
      supported_formats: formatOptions(agentUrl, formats).map(({ v1_format_ref: _, format_option_id, ...format }) => ({
        capability_id: format_option_id,
        format,
        operations: ["build"],
      })),
      has_creative_library: tools.has("list_creatives"),
      supports_generation: true,
      supports_transformation: true,
      supports_compliance: false,
    },
  }),
  routes: serveHosted,
};
