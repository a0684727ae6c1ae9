/** Every tool with a reference behaviour, by its name on the wire. */
import { complyTestController } from "./comply-test-controller.js";
import { listAccounts } from "./list-accounts.js";
import { syncAccounts } from "./sync-accounts.js";
import { syncGovernance } from "./sync-governance.js";

export const tools = {
  comply_test_controller: complyTestController,
  list_accounts: listAccounts,
  sync_accounts: syncAccounts,
  sync_governance: syncGovernance,
};
