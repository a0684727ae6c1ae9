import type { JsonObject } from "adbind/contract";

export const capabilities: JsonObject = { media_buy: { features: { catalog_management: true } } };
