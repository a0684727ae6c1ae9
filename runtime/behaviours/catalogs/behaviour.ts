import type { Behaviour } from "../frame/behaviour.js";
import { syncCatalogs } from "./sync.js";

/** Catalogues of what buyers sell. */
export const catalogsBehaviour: Behaviour = {
  area: "catalogs",
  needs: ["accounts"],
  tools: { sync_catalogs: syncCatalogs },
  capabilities: () => ({ media_buy: { features: { catalog_management: true } } }),
};
