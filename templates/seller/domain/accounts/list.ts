import type { JsonObject } from "adbind/contract";
import type { Call, Request } from "../../handler.js";
import { page } from "../../page.js";
import { accounts } from "./accounts.js";

/** `list_accounts`: the caller's own, oldest first. */
export function listAccounts(call: Call, request: Request<"list_accounts">): JsonObject {
  const fitting = accounts(call).filter(
    ({ status, sandbox }) =>
      (request.status === undefined || request.status === status) &&
      (request.sandbox === undefined || request.sandbox === (sandbox ?? false)),
  );
  const { items, pagination } = page(fitting, request.pagination, ({ account_id }) => account_id);
  // How many accounts there are is nobody's business but the caller's next page's.
  const { total_count: _, ...cursor } = pagination;
  return { accounts: items, pagination: cursor };
}
