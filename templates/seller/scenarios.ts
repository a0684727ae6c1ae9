/** What the test controller can bring about: one table per area of the domain. Development only. */

import { scenarios as accounts } from "./domain/accounts/scenarios.js";
import type { Scenarios } from "./domain/controller/scenario.js";
import { scenarios as creatives } from "./domain/creatives/scenarios.js";
import { scenarios as delivery } from "./domain/delivery/scenarios.js";
import { scenarios as formats } from "./domain/formats/scenarios.js";
import { scenarios as governance } from "./domain/governance/scenarios.js";
import { scenarios as mediaBuys } from "./domain/media-buys/scenarios.js";
import { scenarios as products } from "./domain/products/scenarios.js";

export const scenarios: Scenarios = {
  ...accounts,
  ...creatives,
  ...delivery,
  ...formats,
  ...mediaBuys,
  ...products,
  ...governance,
};
