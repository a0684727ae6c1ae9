import { financials } from "../domain/financials/financials.js";
import type { Handler } from "../handler.js";

/** What an account spent, and what it may owe. */
export const getAccountFinancials: Handler<"get_account_financials"> = (request, call) =>
  call.answer(financials(call, request));
