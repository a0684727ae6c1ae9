import type { Behaviour } from "../frame/behaviour.js";
import { reportAdjustment } from "./adjustments.js";
import { auditLogs } from "./audit.js";
import { checkGovernance } from "./check.js";
import { reportOutcome } from "./outcome.js";
import { planScenarios } from "./plans.js";
import { syncCountedPlans } from "./redenominated.js";

/** What brands let their agents spend, and what came of it. */
export const governanceBehaviour: Behaviour = {
  area: "governance",
  shares: "plans, which buyers make and sellers have checked",
  tools: {
    sync_plans: syncCountedPlans,
    check_governance: checkGovernance,
    report_plan_outcome: reportOutcome,
    report_plan_adjustment: reportAdjustment,
    get_plan_audit_logs: auditLogs,
  },
  capabilities: ({ tools }) => (tools.has("sync_plans") ? { experimental_features: ["governance.campaign"] } : {}),
  scenarios: planScenarios,
};
