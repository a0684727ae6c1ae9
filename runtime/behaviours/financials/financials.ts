import { dayAfter, UTC } from "../../calendar.js";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, resolveAccount } from "../accounts/accounts.js";
import { buysOf, endOf, type MediaBuy, startOf } from "../buys/buys.js";
import { deliveredOf } from "../delivery/delivered.js";
import type { DeliveryDays } from "../delivery/simulated.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { summed } from "../frame/currency.js";
import type { Account, Credit } from "../ports/accounts.js";

interface Wanted {
  readonly account: AccountRef;
  readonly period?: { readonly start: string; readonly end: string };
}

const spentBy = async (call: BehaviourCall, buys: readonly MediaBuy[], days?: DeliveryDays): Promise<number> =>
  summed((await Promise.all(buys.map((buy) => deliveredOf(call, buy, days)))).map(({ spend }) => spend));

/** What is owed is all that was ever spent; more than all of the limit cannot be used, whatever is owed. */
const shownCredit = ({ limit }: Credit, owed: number): JsonObject => ({
  credit_limit: limit,
  available_credit: summed([limit, -owed]),
  utilization_percent: limit === 0 ? (owed > 0 ? 100 : 0) : Math.min(100, Math.round((owed / limit) * 10_000) / 100),
});

const paymentStatus: { readonly [S in Account["status"]]?: string } = {
  suspended: "suspended",
  payment_required: "past_due",
};

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
  const all = await buysOf(call, { account: { account_id: account.account_id } });
  const credit = await call.ports.accounts.credit?.(account);
  // Every amount of an answer is in one currency: that of the credit, unless nothing was bought in it.
  const inCredit = all.some((buy) => buy.currency === credit?.currency);
  const currency = (inCredit ? credit?.currency : all[0]?.currency) ?? credit?.currency ?? "USD";
  const own = all.filter((buy) => buy.currency === currency);
  const running = own.filter(
    (buy) => startOf(buy).slice(0, 10) <= period.end && endOf(buy).slice(0, 10) >= period.start,
  );
  const spent = await spentBy(call, own, { from: period.start, before: dayAfter(period.end), timezone: UTC });
  return call.answer({
    account: request.account,
    currency,
    period,
    timezone: "UTC",
    spend: { total_spend: spent, media_buy_count: running.length },
    ...(credit?.currency === currency && { credit: shownCredit(credit, await spentBy(call, own)) }),
    payment_status: paymentStatus[account.status] ?? "current",
    ...(account.payment_terms !== undefined && { payment_terms: account.payment_terms }),
    invoices: [],
  });
};
