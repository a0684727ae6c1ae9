import type { SpendingCheck } from "../../handler.js";
import { account } from "../accounts/accounts.js";
import { requireApproval } from "./authority.js";

/** An order goes ahead when the brand's plan, or the account's governance agent, allows it. */
export const checks: SpendingCheck = (call, { tool, request, amount, accountId }) =>
  requireApproval(call, account(call, accountId), { tool, request, amount });
