import { accountId, findAccount } from "../accounts/accounts.js";
import type { Behaviour, ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourReply } from "../frame/call.js";
import { accountFeed, FEED, recorded } from "../frame/changes.js";

/** Days that changes are kept. */
const KEPT_DAYS = 90;

/** `list_account_changes`: what became of an account since its reader was last there. */
const listChanges: ToolBehaviour = async (request, call) => {
  const feed = accountFeed(call, async (ref) => (await findAccount(call, await accountId(call, ref)))?.account_id);
  return (await feed.handler(request, call.context)) as BehaviourReply;
};

export const changesBehaviour: Behaviour = {
  area: FEED,
  shares: "feeds of accounts, which are kept by account",
  needs: ["accounts"],
  tools: { list_account_changes: listChanges },
  capabilities: () => ({
    experimental_features: ["account.change_feed"],
    account: {
      change_feed: {
        supported: true,
        read_task: "list_account_changes",
        registration_task: "sync_accounts",
        event_type: "account.change_recorded",
        retention_days: KEPT_DAYS,
        resource_types: Object.keys(recorded),
      },
    },
  }),
};
