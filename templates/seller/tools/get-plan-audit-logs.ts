import { auditLogs } from "../domain/governance/audit.js";
import type { Handler } from "../handler.js";

/** Shows what was asked and spent under plans. */
export const getPlanAuditLogs: Handler<"get_plan_audit_logs"> = (request, call) =>
  call.answer(auditLogs(call, request));
