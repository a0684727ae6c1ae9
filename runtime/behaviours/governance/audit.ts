/** `get_plan_audit_logs`: what was asked, decided and spent under plans, by plan or by action. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourToolCall } from "../frame/call.js";
import { committedBy, type Entry, entriesOf, isAdjustment, isCheck, isOutcome, planAccounts } from "./ledger.js";
import { callersPlans, type KeptPlan, planOf } from "./plans.js";

interface Audit {
  readonly plan_ids?: readonly string[];
  readonly portfolio_plan_ids?: readonly string[];
  readonly governance_contexts?: readonly string[];
  readonly purchase_types?: readonly string[];
  readonly include_entries?: boolean;
}

/** One entry as the trail shows it. */
function shownEntry(call: BehaviourToolCall, entry: Entry): JsonObject {
  const { type, id, timestamp, governance_context } = entry;
  const common = { type, id, timestamp, governance_context };
  if (isCheck(entry)) {
    const { caller, tool, check_type, explanation, decision } = entry;
    const field = call.shape.has("plans", "*", "entries", "*", "verdict") ? "verdict" : "status";
    return { ...common, caller, check_type, explanation, mode: "enforce", [field]: decision, ...(tool && { tool }) };
  }
  if (isOutcome(entry)) {
    const { outcome, committed, error } = entry;
    return { ...common, outcome, committed_budget: committed, ...(error !== undefined && { error }) };
  }
  return {
    ...common,
    adjustment_id: id,
    adjustment_state: entry.state,
    adjustment_type: entry.kind,
    headroom_restored: entry.restored,
  };
}

/** Everything under one token is one action. */
function governedAction(entries: readonly Entry[], context: string): JsonObject {
  const own = entries.filter(({ governance_context }) => governance_context === context);
  const outcomes = own.filter(isOutcome);
  const reference = outcomes.findLast(({ seller_reference }) => seller_reference !== undefined)?.seller_reference;
  return {
    governance_context: context,
    purchase_type: own[0]?.purchase_type ?? "media_buy",
    status: outcomes.at(-1)?.outcome === "failed" ? "completed" : "active",
    committed: committedBy(entries, context),
    check_count: own.filter(isCheck).length,
    ...(reference !== undefined && { seller_reference: reference }),
  };
}

async function shownPlan(call: BehaviourToolCall, kept: KeptPlan, request: Audit): Promise<JsonObject> {
  const { governance_contexts: contexts, purchase_types: purchases } = request;
  const { plan, version } = kept;
  const all = await entriesOf(call, kept);
  const entries = all.filter(
    ({ governance_context, purchase_type }) =>
      (contexts?.includes(governance_context) ?? true) && (purchases?.includes(purchase_type) ?? true),
  );
  const checks = entries.filter(isCheck);
  const { ledger_committed: spent, ...accounts } = planAccounts(plan, all);
  const { total } = plan.budget;
  const count = (decision: string): number => checks.filter((check) => check.decision === decision).length;
  return {
    plan_id: plan.plan_id,
    plan_version: version,
    status: "active",
    budget: {
      authorized: total,
      ...accounts,
      ledger_committed: spent,
      committed: spent,
      remaining: accounts.budget_remaining,
      utilization_pct: total > 0 ? Math.round((1_000 * spent) / total) / 10 : 0,
    },
    governed_actions: [...new Set(entries.map(({ governance_context }) => governance_context))].map((context) =>
      governedAction(all, context),
    ),
    summary: {
      checks_performed: checks.length,
      outcomes_reported: entries.filter(isOutcome).length,
      adjustments_reported: entries.filter(isAdjustment).length,
      findings_count: entries.reduce((sum, { findings }) => sum + findings.length, 0),
      statuses: {
        approved: count("approved"),
        denied: count("denied"),
        conditions: count("conditions"),
        human_reviewed: checks.filter(({ human }) => human).length,
      },
    },
    ...(request.include_entries === true && { entries: entries.map((entry) => shownEntry(call, entry)) }),
  };
}

/** Plans that have an action under one of these tokens. */
async function plansOf(call: BehaviourToolCall, contexts: readonly string[]): Promise<KeptPlan[]> {
  const found: KeptPlan[] = [];
  for (const kept of await callersPlans(call))
    if ((await entriesOf(call, kept)).some(({ governance_context: one }) => contexts.includes(one))) found.push(kept);
  if (found.length > 0) return found;
  const message = "no plan has an action with this governance_context";
  throw new ToolError("PLAN_NOT_FOUND", message, { field: "governance_contexts" });
}

export const auditLogs: ToolBehaviour = async (request: Audit, call) => {
  const named = [...(request.plan_ids ?? []), ...(request.portfolio_plan_ids ?? [])];
  const plans =
    named.length > 0
      ? await Promise.all(named.map((id) => planOf(call, id, "plan_ids")))
      : await plansOf(call, request.governance_contexts ?? []);
  return call.answer({ plans: await Promise.all(plans.map((kept) => shownPlan(call, kept, request))) });
};
