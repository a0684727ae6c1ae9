/** What this seller can do beyond what its tools tell: one part per area of the domain. */
import type { JsonObject } from "adbind/contract";
import { capabilities as accounts } from "./domain/accounts/capabilities.js";
import { capabilities as mediaBuys } from "./domain/media-buys/capabilities.js";

export const capabilities: readonly JsonObject[] = [accounts, mediaBuys];
