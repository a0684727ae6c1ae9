import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { resolveAccount } from "../accounts/accounts.js";
import { deliveredByBuy } from "../delivery/delivery.js";
import { buysOf } from "../media-buys/media-buy.js";

/** What an account may owe, in its currency. */
const CREDIT_LIMIT = 1_000_000;

/**
 * `get_account_financials`: spend and credit of an account, this month unless a period is asked for.
 * @throws ToolError ACCOUNT_NOT_FOUND, INVALID_REQUEST
 */
export function financials(call: Call, request: Request<"get_account_financials">): JsonObject {
  const account = resolveAccount(call, request.account);
  const today = call.now.toISOString().slice(0, 10);
  const period = request.period ?? { start: `${today.slice(0, 7)}-01`, end: today };
  if (period.end < period.start)
    throw new ToolError("INVALID_REQUEST", "the period ends before it starts", { field: "period.end" });
  const buys = buysOf(call, { account: { account_id: account.account_id } });
  const spend = buys.reduce((sum, buy) => sum + deliveredByBuy(call, buy).spend, 0);
  return {
    account: request.account,
    currency: buys[0]?.currency ?? "USD",
    period,
    timezone: "UTC",
    spend: { total_spend: spend, media_buy_count: buys.length },
    credit: {
      credit_limit: CREDIT_LIMIT,
      available_credit: CREDIT_LIMIT - spend,
      utilization_percent: Math.round((spend / CREDIT_LIMIT) * 10_000) / 100,
    },
    payment_status: account.status === "suspended" ? "suspended" : "current",
    ...(account.payment_terms !== undefined && { payment_terms: account.payment_terms }),
    invoices: [],
  };
}
