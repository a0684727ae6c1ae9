/** What the test controller can bring about: one table per area of the domain. Development only. */

import { scenarios as accounts } from "./domain/accounts/scenarios.js";
import type { Scenarios } from "./domain/controller/scenario.js";
import { scenarios as governance } from "./domain/governance/scenarios.js";

export const scenarios: Scenarios = { ...accounts, ...governance };
