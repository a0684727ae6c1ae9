import type { Behaviour } from "../frame/behaviour.js";
import { TIMEZONE } from "./accounts.js";
import { GOVERNANCE_CHECKS } from "./commitment.js";
import { syncGovernance } from "./governance.js";
import { listAccounts } from "./list.js";
import { accountScenarios } from "./scenarios.js";
import { resetListeners, syncAccounts } from "./sync.js";

/** AccountsPort, and who is asked before their money is spent. */
export const accountsBehaviour: Behaviour = {
  area: "accounts",
  tools: { list_accounts: listAccounts, sync_accounts: syncAccounts },
  // An account whose configs are wrong is refused alone.
  judges: { sync_accounts: ["/accounts/*/notification_configs"] },
  capabilities: ({ ports, mode }) => ({
    account: {
      require_operator_auth: false,
      supported_billing: ports.accounts.billing,
      // Money of an account is of one currency where a buy says nothing else.
      supported_account_currency_modes: ["per_media_buy"],
      timezone: { mode: "seller_fixed", fixed_timezone: TIMEZONE },
      required_for_products: false,
      // Of a sandbox nothing may be done for real, and ports are not told which account is one.
      sandbox: mode === "development",
    },
  }),
  scenarios: accountScenarios,
  reset: resetListeners,
};

/** Who is asked before an account's money is spent: served where a specialism names it. */
export const governanceAgentsBehaviour: Behaviour = {
  area: "governance-agents",
  needs: ["accounts"],
  tools: { sync_governance: syncGovernance },
};

/** They are asked: nothing of a media buy is committed without their word. */
export const governanceChecksBehaviour: Behaviour = {
  area: GOVERNANCE_CHECKS,
  needs: ["governance-agents"],
  tools: {},
  capabilities: ({ tools }) => (tools.has("create_media_buy") ? { media_buy: { governance_aware: true } } : {}),
};
