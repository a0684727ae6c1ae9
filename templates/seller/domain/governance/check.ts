import { extra, type JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { stated } from "../../stated.js";
import { judgeDelivery } from "./drift.js";
import { type Judgement, judgeAction } from "./judge.js";
import { approvedCheck, type CheckEntry, committed, committedBy, entriesOf, record } from "./ledger.js";
import { policyIds } from "./plan.js";
import { categories, type KeptPlan, keptPlans, planOf } from "./plans.js";
import { type Proposal, readProposal } from "./proposal.js";
import { governanceToken } from "./token.js";

type Check = Request<"check_governance">;
type Proposed = Parameters<typeof readProposal>[0];

/** How long an approval may be acted upon. */
const APPROVAL_HOURS = 72;
/** When delivery is to be looked at again. */
const NEXT_CHECK_DAYS = 7;

const HOUR = 3_600_000;

const later = (call: Call, ms: number): string => new Date(call.now.getTime() + ms).toISOString();

/** Channels of the products that are known here, so that a plan's words about channels meet product ids. */
const productFacts = (call: Call) => (productId: string) =>
  call.documents.get<{ channels?: string[] }>("product", "", productId)?.channels ?? [];

/** Some releases have people's approvals in the request. */
function approvedByHuman(request: Check): boolean {
  const approval = extra(request, "human_approval") as JsonObject | undefined;
  return approval != null && approval.approved !== false;
}

/** Not an action: how much is left. */
function budgetLeft(kept: KeptPlan, spent: number): Judgement {
  const { total, currency } = kept.plan.budget;
  const explanation = `${total - spent} of ${total} ${currency} are left.`;
  return {
    decision: "approved",
    findings: [{ category_id: "budget_authority", severity: "info", explanation }],
    conditions: [],
  };
}

function judge(call: Call, kept: KeptPlan, request: Check, proposal: Proposal): Judgement {
  const { plan } = kept;
  const entries = entriesOf(call, plan.plan_id);
  const context = request.governance_context ?? "";
  const spent = committed(entries);
  if (request.phase === "delivery") {
    const metrics = request.delivery_metrics;
    if (metrics === undefined) {
      throw new ToolError("INVALID_REQUEST", "a check of delivery needs delivery_metrics", {
        field: "delivery_metrics",
      });
    }
    const before = approvedCheck(entries, request.governance_context) ?? approvedCheck(entries, undefined);
    const approved = before === undefined ? undefined : readProposal(before.request as Proposed, productFacts(call));
    return judgeDelivery(plan, metrics, approved, committedBy(entries, context) || before?.amount || plan.budget.total);
  }
  if (request.payload === undefined && request.planned_delivery === undefined) {
    return budgetLeft(
      kept,
      Object.values(spent).reduce((sum, value) => sum + value, 0),
    );
  }
  return judgeAction(plan, proposal, {
    phase: request.phase ?? "purchase",
    caller: request.caller,
    execution: request.planned_delivery !== undefined,
    committed: spent,
    before: committedBy(entries, context),
    approvedByHuman: approvedByHuman(request),
    now: call.now.getTime(),
  });
}

const summaries = {
  approved: "The action is within the plan.",
  conditions: "The action may go ahead once the conditions are met and it has been checked again.",
  denied: "The action is not allowed by the plan.",
};

const explain = ({ decision, findings }: Judgement): string =>
  [
    summaries[decision],
    ...findings.filter(({ severity }) => severity !== "info").map(({ explanation }) => explanation),
  ].join(" ");

/**
 * The plan of an action: the one it names, else the one that the check with its token was made under.
 * @throws ToolError PLAN_NOT_FOUND, INVALID_REQUEST
 */
function planFor(call: Call, { plan_id: named, governance_context: token }: Check): KeptPlan {
  if (named !== undefined) return planOf(call, named);
  if (token === undefined) throw new ToolError("INVALID_REQUEST", "a first check names its plan", { field: "plan_id" });
  const isOf = ({ plan }: KeptPlan): boolean =>
    entriesOf(call, plan.plan_id).some(({ governance_context }) => governance_context === token);
  const kept = keptPlans(call).find(isOf);
  if (kept === undefined)
    throw new ToolError("PLAN_NOT_FOUND", "no check under a plan of yours has this token", {
      field: "governance_context",
    });
  return kept;
}

/** `check_governance`: may this action go ahead, as proposed, as the seller will run it, or as it is being delivered? */
export function checkGovernance(call: Call, request: Check): JsonObject {
  const kept = planFor(call, request);
  const { plan } = kept;
  const proposal = readProposal(request as Proposed, productFacts(call));
  const judgement = judge(call, kept, request, proposal);
  const { decision, findings, conditions } = judgement;
  const checkId = call.id("chk");
  const phase = request.phase ?? "purchase";
  const expires = later(call, APPROVAL_HOURS * HOUR);
  const token =
    request.governance_context ??
    governanceToken(call, {
      plan_id: plan.plan_id,
      check_id: checkId,
      decision,
      phase,
      aud: request.caller,
      exp: Math.floor(Date.parse(expires) / 1_000),
    });
  const explanation = explain(judgement);
  const entry: CheckEntry = {
    type: "check",
    id: checkId,
    timestamp: call.now.toISOString(),
    plan_id: plan.plan_id,
    governance_context: token,
    check_type: request.planned_delivery === undefined ? "intent" : "execution",
    phase,
    purchase_type: proposal.purchase,
    caller: request.caller,
    ...(request.tool !== undefined && { tool: request.tool }),
    decision,
    amount: proposal.amount,
    explanation,
    findings,
    human: approvedByHuman(request),
    request: {
      ...(request.payload !== undefined && { payload: request.payload }),
      ...(request.planned_delivery !== undefined && { planned_delivery: request.planned_delivery }),
      ...(request.tool !== undefined && { tool: request.tool }),
    },
  };
  record(call, entry);
  return {
    check_id: checkId,
    ...stated(call, "verdict", decision),
    plan_id: plan.plan_id,
    explanation,
    mode: "enforce",
    categories_evaluated: categories,
    policies_evaluated: policyIds(plan),
    governance_context: token,
    ...(findings.length > 0 && { findings }),
    ...(conditions.length > 0 && { conditions }),
    ...(decision !== "denied" && { expires_at: expires, next_check: later(call, NEXT_CHECK_DAYS * 24 * HOUR) }),
  };
}
