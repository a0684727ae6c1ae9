import type { Behaviour } from "../frame/behaviour.js";
import { acquireRights, updateRights } from "./acquire.js";
import { getBrandIdentity, searchBrands } from "./identity.js";
import { licenceScenarios } from "./licences.js";
import { getRights } from "./offerings.js";

/** What brands are, and what they license. */
export const brandsBehaviour: Behaviour = {
  area: "brands",
  needs: ["accounts"],
  tools: {
    get_brand_identity: getBrandIdentity,
    search_brands: searchBrands,
    get_rights: getRights,
    acquire_rights: acquireRights,
    update_rights: updateRights,
  },
  capabilities: () => ({
    brand: {
      rights: true,
      right_types: ["brand_ip", "stock_media", "talent"],
      available_uses: ["ai_generated_image", "commercial", "editorial", "endorsement", "likeness"],
    },
  }),
  scenarios: licenceScenarios,
};
