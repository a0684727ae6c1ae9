import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { type Plan, planFault, resolvedPolicies } from "./plan.js";

/** A plan as it is kept: registering it again makes a new version. */
export interface KeptPlan {
  readonly plan: Plan;
  readonly version: number;
  readonly syncedAt: string;
}

const KIND = "plan";

/** What a governance agent of this kind looks at. */
export const categories = [
  "budget_authority",
  "strategic_alignment",
  "geo_compliance",
  "custom_policy",
  "budget_drift",
];

export const keptPlan = (call: Call, planId: string): KeptPlan | undefined =>
  call.documents.get<KeptPlan>(KIND, call.principal, planId);

/** Every plan of the caller. */
export const keptPlans = (call: Call): KeptPlan[] => call.documents.list<KeptPlan>(KIND, call.principal);

/** @throws ToolError PLAN_NOT_FOUND, for somebody else's plan as well */
export function planOf(call: Call, planId: string, field = "plan_id"): KeptPlan {
  const kept = keptPlan(call, planId);
  if (kept === undefined) throw new ToolError("PLAN_NOT_FOUND", "there is no such plan", { field });
  return kept;
}

/**
 * The plan registered last for a brand, or by the caller where no brand is named: actions that name no plan are judged
 * by it.
 */
export function newestPlan(call: Call, domain: string | undefined): Plan | undefined {
  const own = call.documents
    .list<KeptPlan>(KIND, call.principal)
    .filter(({ plan }) => domain === undefined || plan.brand.domain === domain);
  return own.reduce<KeptPlan | undefined>(
    (newest, kept) => (newest === undefined || kept.syncedAt >= newest.syncedAt ? kept : newest),
    undefined,
  )?.plan;
}

export function keepPlan(call: Call, plan: Plan): KeptPlan {
  const kept = { plan, version: (keptPlan(call, plan.plan_id)?.version ?? 0) + 1, syncedAt: call.now.toISOString() };
  call.documents.put(KIND, call.principal, plan.plan_id, kept);
  return kept;
}

/** `sync_plans`: registers plans, or new versions of them. One that is wrong fails all: half a plan is no plan. */
export function syncPlans(call: Call, request: Request<"sync_plans">): JsonObject {
  const plans = request.plans as readonly Plan[];
  plans.forEach((plan, index) => {
    const fault = planFault(plan);
    if (fault !== undefined)
      throw new ToolError("INVALID_REQUEST", fault.message, { field: `plans[${index}].${fault.field}` });
  });
  return {
    plans: plans.map((plan) => {
      const { version } = keepPlan(call, plan);
      return {
        plan_id: plan.plan_id,
        status: "active",
        version,
        categories: categories.map((category_id) => ({ category_id, status: "active" })),
        resolved_policies: resolvedPolicies(plan),
      };
    }),
  };
}
