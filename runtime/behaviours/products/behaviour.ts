import type { Behaviour } from "../frame/behaviour.js";
import { findProducts } from "./find.js";
import { resetProducts } from "./products.js";
import { productScenarios } from "./scenarios.js";

/** What is sold. */
export const productsBehaviour: Behaviour = {
  area: "products",
  needs: ["accounts", "formats"],
  tools: { get_products: findProducts },
  scenarios: productScenarios,
  reset: resetProducts,
};
