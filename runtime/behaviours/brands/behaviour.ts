import type { Behaviour } from "../frame/behaviour.js";
import { acquireRights } from "./acquire.js";
import { brandIdentity } from "./brands.js";
import { verifyClaim, verifyClaims } from "./claims.js";
import { findRights } from "./offerings.js";
import { brandScenarios, resetGrants } from "./scenarios.js";
import { searchBrands } from "./search.js";
import { updateRights } from "./update.js";
import { carryOnRights } from "./upkeep.js";

/** What brands look like, and what they license. */
export const brandsBehaviour: Behaviour = {
  area: "brands",
  shares: "the calendar of rights, of which only one buyer may have a day",
  needs: ["accounts"],
  tools: {
    get_brand_identity: brandIdentity,
    search_brands: searchBrands,
    get_rights: findRights,
    acquire_rights: acquireRights,
    update_rights: updateRights,
    verify_brand_claim: verifyClaim,
    verify_brand_claims: verifyClaims,
  },
  // Nobody believes them without a signature.
  withheld: ({ responses, ports }) =>
    responses === undefined || ports.brands.claims === undefined ? ["verify_brand_claim", "verify_brand_claims"] : [],
  capabilities: ({ ports: { brands } }) => ({
    brand: { rights: brands.uses.length > 0, right_types: brands.rightTypes, available_uses: brands.uses },
    ...(brands.uses.length > 0 && { experimental_features: ["brand.rights_lifecycle"] }),
  }),
  scenarios: brandScenarios,
  reset: resetGrants,
  upkeep: carryOnRights,
};
