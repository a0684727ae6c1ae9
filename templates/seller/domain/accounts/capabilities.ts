import type { JsonObject } from "adbind/contract";

export const capabilities: JsonObject = {
  account: {
    require_operator_auth: false,
    supported_billing: ["operator", "agent", "advertiser"],
    required_for_products: false,
    sandbox: true,
  },
};
