import type { Behaviour } from "../frame/behaviour.js";
import { accountFinancials } from "./financials.js";

/** What accounts spent and may owe. */
export const financialsBehaviour: Behaviour = {
  area: "financials",
  needs: ["accounts", "delivery"],
  tools: { get_account_financials: accountFinancials },
  capabilities: () => ({ account: { account_financials: true } }),
};
