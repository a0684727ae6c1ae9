import type { JsonObject } from "../../contract/index.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import { listPage, PAGE_SIZE, type PageWanted } from "../frame/page.js";
import type { Account } from "../ports/accounts.js";
import { type AccountRef, accountId, callersAccounts, shownAccount } from "./accounts.js";

interface Wanted {
  readonly account?: AccountRef;
  readonly status?: string;
  readonly sandbox?: boolean;
  readonly pagination?: PageWanted;
}

/** `list_accounts`: the caller's own, oldest first. */
export const listAccounts: ToolBehaviour = async (request: Wanted, call) => {
  const named = request.account === undefined ? undefined : await accountId(call, request.account);
  const listed = ({ account_id, status, sandbox }: Account): boolean =>
    (named === undefined || named === account_id) &&
    (request.status === undefined || request.status === status) &&
    (request.sandbox === undefined || request.sandbox === (sandbox ?? false));
  const all = await callersAccounts(call);
  const { items, pagination } = listPage(all, request.pagination, ({ account_id: id }) => id, { ...PAGE_SIZE, listed });
  // How many accounts there are is nobody's business but the caller's next page's.
  const { total_count: _, ...cursor } = pagination;
  const listens = call.shape.has("accounts", "*", "notification_configs");
  const shown = async (one: Account): Promise<JsonObject> => {
    const scope = { principal: call.principal, account: one.account_id, release: call.release.version };
    // An account that nobody listens to any more says so.
    const configs = listens ? await call.ctx.sender?.notifications.list(scope) : undefined;
    // Older releases let several be registered; all of them are asked.
    const agents = one.governance_agents?.slice(0, call.shape.most("accounts", "*", "governance_agents"));
    return {
      ...shownAccount({ ...one, ...(agents && { governance_agents: agents }) }),
      ...(configs !== undefined && { notification_configs: configs }),
    };
  };
  return call.answer({ accounts: await Promise.all(items.map(shown)), pagination: cursor });
};
