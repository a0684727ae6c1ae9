/** `report_plan_outcome`: what came of an action; its money is bound under the plan from then on. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourToolCall } from "../frame/call.js";
import { summed } from "../frame/currency.js";
import {
  approvedCheck,
  type CheckEntry,
  type Entry,
  entriesOf,
  isCheck,
  isSettling,
  type OutcomeEntry,
  planAccounts,
  record,
} from "./ledger.js";
import type { SpendingPlan } from "./plan.js";
import { type KeptPlan, planOf } from "./plans.js";
import { type Observation, reconciled } from "./statements.js";
import type { GovernanceFinding } from "./verdict.js";

interface OutcomeRequest {
  readonly plan_id: string;
  readonly check_id?: string;
  readonly governance_context?: string;
  readonly purchase_type?: string;
  readonly outcome: OutcomeEntry["outcome"];
  readonly seller_response?: {
    readonly seller_reference?: string;
    readonly committed_budget?: number;
    readonly packages?: readonly { readonly budget?: number }[];
  };
  readonly delivery?: JsonObject & Observation;
  readonly error?: JsonObject;
}

/** What the seller has bound: what was approved where the release's ledger is the agent's own, else as the seller says. */
function boundBy(
  call: BehaviourToolCall,
  { outcome, seller_response: response }: OutcomeRequest,
  approved: number,
): number {
  if (outcome !== "completed") return 0;
  const own = call.shape.has("delivery_reconciliation_status");
  if (own && approved > 0) return approved;
  if (response?.committed_budget !== undefined) return response.committed_budget;
  const lines = (response?.packages ?? []).map(({ budget = 0 }) => budget);
  return lines.length > 0 ? summed(lines) : approved;
}

/**
 * Where adjustments have a tool of their own, the ledger is the agent's: what was approved is settled once, as it was approved.
 * @throws ToolError CONFLICT, VALIDATION_ERROR
 */
function checkSettlement(
  call: BehaviourToolCall,
  { outcome, seller_response: response }: OutcomeRequest,
  {
    kept,
    check,
    own,
  }: { readonly kept: KeptPlan; readonly check: CheckEntry | undefined; readonly own: readonly Entry[] },
): void {
  if (outcome === "delivery" || !call.shapes.offers("report_plan_adjustment")) return;
  if (own.some(isSettling))
    throw new ToolError(
      "CONFLICT",
      "the outcome of this action has been told: what changes after that is an adjustment",
      {
        field: "governance_context",
      },
    );
  if (check !== undefined && (response?.committed_budget ?? 0) > check.amount)
    throw new ToolError("VALIDATION_ERROR", `no more than ${check.amount} was approved`, {
      field: "seller_response.committed_budget",
    });
  // Of two at one time the later finds the other.
  if (check !== undefined) record(call, kept, check);
}

const warning = (category_id: string, explanation: string): GovernanceFinding => ({
  category_id,
  severity: "warning",
  explanation,
});

function moneyFindings(
  { outcome, seller_response: response }: OutcomeRequest,
  { budget: { currency } }: SpendingPlan,
  { check, bound }: { readonly check: CheckEntry | undefined; readonly bound: number },
): GovernanceFinding[] {
  if (outcome === "failed") return [];
  if (check === undefined)
    return [warning("budget_authority", "No check with this governance_context has let the action go ahead.")];
  const said = Math.max(bound, response?.committed_budget ?? 0);
  if (said <= check.amount) return [];
  return [warning("budget_authority", `${said} ${currency} are bound where ${check.amount} were approved.`)];
}

const differences: Readonly<Record<string, string>> = {
  disputed: "What the buyer was told is not what the seller stated.",
  measurement_variance: "The buyer has measured another spend than the seller stated.",
  unmatched: "The check that is named has no statement of the seller's.",
  closed_unresolved: "The period was closed while what both sides say differs.",
};

/** How what the buyer saw compares with the seller's statement, and whether that is the last word. */
function reconciliationOf(
  { delivery, check_id }: OutcomeRequest,
  entries: readonly Entry[],
): OutcomeEntry["reconciliation"] {
  if (delivery === undefined) return undefined;
  const check = entries.filter(isCheck).find(({ id }) => id === check_id);
  const status = reconciled(delivery, check ?? {});
  const closed = delivery.period_closed === true;
  const { start, end } = delivery.reporting_period;
  return { status: closed && status === "disputed" ? "closed_unresolved" : status, closed, period: `${start}/${end}` };
}

/** @throws ToolError PLAN_NOT_FOUND, INVALID_REQUEST, CONFLICT, VALIDATION_ERROR */
export const reportOutcome: ToolBehaviour = async (request: OutcomeRequest, call) => {
  const kept = await planOf(call, request.plan_id);
  const { plan } = kept;
  const { governance_context: token, seller_response: response } = request;
  if (token === undefined)
    throw new ToolError("INVALID_REQUEST", "an outcome has the token of its check", { field: "governance_context" });
  const before = await entriesOf(call, kept);
  const check = approvedCheck(before, token);
  const { purchase_type: purchase = check?.purchase_type ?? "media_buy" } = request;
  if (check !== undefined && purchase !== check.purchase_type)
    throw new ToolError("INVALID_REQUEST", `what was approved is a ${check.purchase_type}`, { field: "purchase_type" });
  checkSettlement(call, request, { kept, check, own: before.filter((one) => one.governance_context === token) });
  const bound = boundBy(call, request, check?.amount ?? 0);
  const reconciliation = call.shape.has("delivery_reconciliation_status")
    ? reconciliationOf(request, before)
    : undefined;
  const difference = differences[reconciliation?.status ?? ""];
  const findings: GovernanceFinding[] = [
    ...moneyFindings(request, plan, { check, bound }),
    ...(difference === undefined ? [] : [warning("delivery_reconciliation", difference)]),
  ];
  const entry: OutcomeEntry = {
    type: "outcome",
    id: call.id("out"),
    order: before.length,
    timestamp: call.time,
    plan_id: plan.plan_id,
    governance_context: token,
    purchase_type: purchase,
    outcome: request.outcome,
    state: findings.length > 0 ? "findings" : "accepted",
    committed: bound,
    findings,
    ...(response?.seller_reference !== undefined && { seller_reference: response.seller_reference }),
    ...(reconciliation !== undefined && { reconciliation }),
    ...(request.outcome === "failed" && request.error !== undefined && { error: request.error }),
  };
  record(call, kept, entry);
  const { ledger_committed: spent, budget_remaining } = planAccounts(plan, [...before, entry]);
  if (spent > plan.budget.total) {
    const { total, currency } = plan.budget;
    const explanation = `${spent} ${currency} are bound under a plan of ${total} ${currency}.`;
    findings.push({ category_id: "budget_authority", severity: "critical", explanation });
  }
  const state = findings.length > 0 ? "findings" : "accepted";
  return call.answer({
    outcome_id: entry.id,
    ...(call.shape.has("outcome_state") ? { outcome_state: state } : { status: state }),
    ...(request.outcome !== "delivery" && { committed_budget: bound }),
    ...(findings.length > 0 && { findings }),
    ...(reconciliation !== undefined && {
      delivery_reconciliation_status: reconciliation.status,
      delivery_period_state: reconciliation.closed ? "closed" : "open",
    }),
    ...(request.outcome !== "delivery" && { plan_summary: { total_committed: spent, budget_remaining } }),
  });
};
