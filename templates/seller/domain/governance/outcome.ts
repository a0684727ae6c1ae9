import { extra, type JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { stated } from "../../stated.js";
import type { Finding } from "./judge.js";
import { approvedCheck, committed, entriesOf, type OutcomeEntry, record } from "./ledger.js";
import { planOf } from "./plans.js";

type Outcome = Request<"report_plan_outcome">;

/** What the seller has bound: as it says, else by its lines, else what had been approved. */
function boundBy({ outcome, seller_response: response }: Outcome, approved: number): number {
  if (outcome !== "completed") return 0;
  if (response?.committed_budget !== undefined) return response.committed_budget;
  const packages = (extra(response, "packages") ?? []) as readonly { readonly budget?: number }[];
  const lines = packages.map(({ budget = 0 }) => budget);
  return lines.length > 0 ? lines.reduce((sum, budget) => sum + budget, 0) : approved;
}

/**
 * `report_plan_outcome`: what came of an action; its money is bound under the plan from then on.
 * @throws ToolError PLAN_NOT_FOUND, INVALID_REQUEST
 */
export function reportOutcome(call: Call, request: Outcome): JsonObject {
  const { plan } = planOf(call, request.plan_id);
  const { governance_context: token } = request;
  if (token === undefined)
    throw new ToolError("INVALID_REQUEST", "an outcome has the token of its check", { field: "governance_context" });
  const before = entriesOf(call, plan.plan_id);
  const check = approvedCheck(before, token);
  const bound = boundBy(request, check?.amount ?? 0);
  const findings: Finding[] = [];
  const { total, currency } = plan.budget;
  if (check === undefined && request.outcome !== "failed") {
    const explanation = "No check with this governance_context has let the action go ahead.";
    findings.push({ category_id: "budget_authority", severity: "warning", explanation });
  } else if (check !== undefined && bound > check.amount) {
    const explanation = `${bound} ${currency} are bound where ${check.amount} were approved.`;
    findings.push({ category_id: "budget_authority", severity: "warning", explanation });
  }
  const entry: OutcomeEntry = {
    type: "outcome",
    id: call.id("out"),
    timestamp: call.now.toISOString(),
    plan_id: plan.plan_id,
    governance_context: token,
    purchase_type: request.purchase_type ?? check?.purchase_type ?? "media_buy",
    outcome: request.outcome,
    state: findings.length > 0 ? "findings" : "accepted",
    committed: bound,
    findings,
    ...(request.seller_response?.seller_reference !== undefined && {
      seller_reference: request.seller_response.seller_reference,
    }),
  };
  record(call, entry);
  const spent = Object.values(committed([...before, entry])).reduce((sum, value) => sum + value, 0);
  if (spent > total) {
    const explanation = `${spent} ${currency} are bound under a plan of ${total} ${currency}.`;
    findings.push({ category_id: "budget_authority", severity: "critical", explanation });
  }
  return {
    outcome_id: entry.id,
    ...stated(call, "outcome_state", findings.length > 0 ? "findings" : "accepted"),
    committed_budget: bound,
    ...(findings.length > 0 && { findings }),
    plan_summary: { total_committed: spent, budget_remaining: Math.max(0, total - spent) },
  };
}
