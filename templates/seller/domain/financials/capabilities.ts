import type { JsonObject } from "adbind/contract";

export const capabilities: JsonObject = { account: { account_financials: true } };
