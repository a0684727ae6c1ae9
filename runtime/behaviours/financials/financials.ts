import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, resolveAccount } from "../accounts/accounts.js";
import { buysOf, sumOf } from "../buys/buys.js";
import { deliveredOf } from "../delivery/delivered.js";
import type { ToolBehaviour } from "../frame/behaviour.js";

interface Wanted {
  readonly account: AccountRef;
  readonly period?: { readonly start: string; readonly end: string };
}

/**
 * `get_account_financials`: spend and credit of an account, this month unless a period is asked for.
 * @throws ToolError ACCOUNT_NOT_FOUND, INVALID_REQUEST
 */
export const accountFinancials: ToolBehaviour = async (request: Wanted, call) => {
  const account = await resolveAccount(call, request.account);
  const today = call.time.slice(0, 10);
  const period = request.period ?? { start: `${today.slice(0, 7)}-01`, end: today };
  if (period.end < period.start)
    throw new ToolError("INVALID_REQUEST", "the period ends before it starts", { field: "period.end" });
  const buys = await buysOf(call, { account: { account_id: account.account_id } });
  const spend = sumOf((await Promise.all(buys.map((buy) => deliveredOf(call, buy)))).map((one) => one.spend));
  const credit = await call.ports.accounts.credit?.(account);
  return call.answer({
    account: request.account,
    currency: credit?.currency ?? buys[0]?.currency ?? "USD",
    period,
    timezone: "UTC",
    spend: { total_spend: spend, media_buy_count: buys.length },
    ...(credit !== undefined && {
      credit: {
        credit_limit: credit.limit,
        available_credit: credit.limit - spend,
        utilization_percent: credit.limit === 0 ? 0 : Math.round((spend / credit.limit) * 10_000) / 100,
      },
    }),
    payment_status: account.status === "suspended" ? "suspended" : "current",
    ...(account.payment_terms !== undefined && { payment_terms: account.payment_terms }),
    invoices: [],
  });
};
