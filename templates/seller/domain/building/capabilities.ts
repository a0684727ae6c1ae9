import type { Capabilities } from "../../handler.js";

/** A library is one that can be looked into. */
export const capabilities: Capabilities = (served) => ({
  creative: {
    has_creative_library: served.has("list_creatives"),
    supports_generation: true,
    supports_transformation: true,
    supports_compliance: false,
  },
});
