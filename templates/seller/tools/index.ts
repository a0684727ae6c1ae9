/** Every tool with a reference behaviour, by its name on the wire. */
import { activateSignal } from "./activate-signal.js";
import { checkGovernance } from "./check-governance.js";
import { complyTestController } from "./comply-test-controller.js";
import { getPlanAuditLogs } from "./get-plan-audit-logs.js";
import { getSignals } from "./get-signals.js";
import { listAccounts } from "./list-accounts.js";
import { reportPlanOutcome } from "./report-plan-outcome.js";
import { syncAccounts } from "./sync-accounts.js";
import { syncGovernance } from "./sync-governance.js";
import { syncPlans } from "./sync-plans.js";

export const tools = {
  activate_signal: activateSignal,
  check_governance: checkGovernance,
  comply_test_controller: complyTestController,
  get_plan_audit_logs: getPlanAuditLogs,
  get_signals: getSignals,
  list_accounts: listAccounts,
  report_plan_outcome: reportPlanOutcome,
  sync_accounts: syncAccounts,
  sync_governance: syncGovernance,
  sync_plans: syncPlans,
};
