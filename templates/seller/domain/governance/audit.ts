import { extra, type JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { committed, committedBy, type Entry, entriesOf, isCheck } from "./ledger.js";
import { type KeptPlan, planOf } from "./plans.js";

type Audit = Request<"get_plan_audit_logs">;

/** One entry as the trail shows it. */
function shownEntry(entry: Entry): JsonObject {
  const { type, id, timestamp, governance_context } = entry;
  const common = { type, id, timestamp, governance_context };
  if (!isCheck(entry)) return { ...common, outcome: entry.outcome, committed_budget: entry.committed };
  const { caller, tool, check_type, explanation, decision } = entry;
  return {
    ...common,
    caller,
    check_type,
    explanation,
    mode: "enforce",
    status: decision,
    ...(tool !== undefined && { tool }),
  };
}

/** Everything under one token is one action. */
function governedAction(entries: readonly Entry[], context: string): JsonObject {
  const own = entries.filter(({ governance_context }) => governance_context === context);
  const outcomes = own.filter((entry) => entry.type === "outcome");
  const reference = outcomes.map(({ seller_reference }) => seller_reference).findLast((one) => one !== undefined);
  return {
    governance_context: context,
    purchase_type: own[0]?.purchase_type ?? "media_buy",
    status: outcomes.at(-1)?.outcome === "failed" ? "completed" : "active",
    committed: committedBy(entries, context),
    check_count: own.filter(isCheck).length,
    ...(reference !== undefined && { seller_reference: reference }),
  };
}

function shownPlan(call: Call, { plan, version }: KeptPlan, request: Audit): JsonObject {
  const { governance_contexts: contexts, purchase_types: purchases } = request;
  const all = entriesOf(call, plan.plan_id);
  const entries = all.filter(
    (entry) =>
      (contexts === undefined || contexts.includes(entry.governance_context)) &&
      (purchases === undefined || (purchases as readonly string[]).includes(entry.purchase_type)),
  );
  const checks = entries.filter(isCheck);
  const spent = Object.values(committed(all)).reduce((sum, value) => sum + value, 0);
  const { total } = plan.budget;
  const count = (decision: string): number => checks.filter((check) => check.decision === decision).length;
  return {
    plan_id: plan.plan_id,
    plan_version: version,
    status: "active",
    budget: {
      authorized: total,
      committed: spent,
      remaining: Math.max(0, total - spent),
      utilization_pct: total > 0 ? Math.round((1_000 * spent) / total) / 10 : 0,
    },
    governed_actions: [...new Set(entries.map(({ governance_context }) => governance_context))].map((context) =>
      governedAction(all, context),
    ),
    summary: {
      checks_performed: checks.length,
      outcomes_reported: entries.length - checks.length,
      findings_count: entries.reduce((sum, { findings }) => sum + findings.length, 0),
      statuses: {
        approved: count("approved"),
        denied: count("denied"),
        conditions: count("conditions"),
        human_reviewed: checks.filter(({ human }) => human).length,
      },
    },
    ...(request.include_entries === true && { entries: entries.map(shownEntry) }),
  };
}

/** `get_plan_audit_logs`: what was asked, decided and spent under plans, by plan or by action. */
export function auditLogs(call: Call, request: Audit): JsonObject {
  const portfolio = (extra(request, "portfolio_plan_ids") ?? []) as readonly string[];
  const named = [...(request.plan_ids ?? []), ...portfolio];
  const plans =
    named.length > 0
      ? named.map((id) => planOf(call, id, "plan_ids"))
      : call.documents
          .list<KeptPlan>("plan", call.principal)
          .filter(({ plan }) =>
            entriesOf(call, plan.plan_id).some(({ governance_context: context }) =>
              request.governance_contexts?.includes(context),
            ),
          );
  if (plans.length === 0) {
    throw new ToolError("PLAN_NOT_FOUND", "no plan has an action with this governance_context", {
      field: "governance_contexts",
    });
  }
  return { plans: plans.map((kept) => shownPlan(call, kept, request)) };
}
