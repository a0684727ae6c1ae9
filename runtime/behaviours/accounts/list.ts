import type { ToolBehaviour } from "../frame/behaviour.js";
import { listPage, type PageWanted } from "../frame/page.js";
import { callersAccounts, shownAccount } from "./accounts.js";

interface Wanted {
  readonly status?: string;
  readonly sandbox?: boolean;
  readonly pagination?: PageWanted;
}

/** `list_accounts`: the caller's own, oldest first. */
export const listAccounts: ToolBehaviour = async (request: Wanted, call) => {
  const fitting = (await callersAccounts(call)).filter(
    ({ status, sandbox }) =>
      (request.status === undefined || request.status === status) &&
      (request.sandbox === undefined || request.sandbox === (sandbox ?? false)),
  );
  const { items, pagination } = listPage(fitting, request.pagination, ({ account_id }) => account_id);
  // How many accounts there are is nobody's business but the caller's next page's.
  const { total_count: _, ...cursor } = pagination;
  return call.answer({ accounts: items.map(shownAccount), pagination: cursor });
};
