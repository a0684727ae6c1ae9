/** What the seller starts with: one list per area of the domain. */
import type { Fixture } from "./documents.js";
import { fixtures as accounts } from "./domain/accounts/fixtures.js";
import { fixtures as building } from "./domain/building/fixtures.js";
import { fixtures as formats } from "./domain/formats/fixtures.js";
import { fixtures as products } from "./domain/products/fixtures.js";
import { fixtures as signals } from "./domain/signals/fixtures.js";

export const fixtures: readonly Fixture[] = [...accounts, ...formats, ...products, ...signals, ...building];
