import type { Behaviour } from "../frame/behaviour.js";
import { findProducts } from "./find.js";
import { productScenarios } from "./scenarios.js";

/** What is sold. */
export const productsBehaviour: Behaviour = {
  area: "products",
  needs: ["accounts", "formats"],
  tools: { get_products: findProducts },
  capabilities: ({ ports, shapes, tools }) => ({
    ...(tools.has("get_products") &&
      shapes.answer("get_products").has("products", "*", "identity") && {
        experimental_features: ["media_buy.product_identity"],
      }),
    media_buy: {
      buying_modes: ["brief", "wholesale", "refine"],
      supports_proposals: ports.catalogue.proposals !== undefined,
    },
  }),
  scenarios: productScenarios,
};
