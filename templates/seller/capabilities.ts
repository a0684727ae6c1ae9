/** What this seller can do beyond what its tools tell: one part per area of the domain. */
import { capabilities as accounts } from "./domain/accounts/capabilities.js";
import { capabilities as audiences } from "./domain/audiences/capabilities.js";
import { capabilities as building } from "./domain/building/capabilities.js";
import { capabilities as catalogs } from "./domain/catalogs/capabilities.js";
import { capabilities as events } from "./domain/events/capabilities.js";
import { capabilities as financials } from "./domain/financials/capabilities.js";
import { capabilities as mediaBuys } from "./domain/media-buys/capabilities.js";
import { capabilities as signals } from "./domain/signals/capabilities.js";
import type { Capabilities } from "./handler.js";

export const capabilities: readonly Capabilities[] = [
  accounts,
  audiences,
  building,
  catalogs,
  events,
  financials,
  mediaBuys,
  signals,
];
