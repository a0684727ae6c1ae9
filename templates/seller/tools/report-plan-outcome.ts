import { reportOutcome } from "../domain/governance/outcome.js";
import type { Handler } from "../handler.js";

/** Takes what came of an action. */
export const reportPlanOutcome: Handler<"report_plan_outcome"> = (request, call) =>
  call.answer(reportOutcome(call, request));
