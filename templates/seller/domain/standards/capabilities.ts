import type { JsonObject } from "adbind/contract";

/** Buyers look for this feature before they send standards, whoever keeps them. */
export const capabilities: JsonObject = { media_buy: { features: { content_standards: true } } };
