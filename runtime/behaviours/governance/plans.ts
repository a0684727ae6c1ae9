/** Plans as they are kept: registering one again makes a new version. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { ScenarioError, type Scenarios, type ToolBehaviour, textParam } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { WrittenPolicy } from "../ports/policy.js";
import type { ReadPolicy } from "./judge.js";
import { planFault, type SpendingPlan } from "./plan.js";

export interface KeptPlan {
  readonly plan: SpendingPlan;
  readonly version: number;
  readonly syncedAt: string;
  /** Who registered it: what is done under it is kept with them, whoever asks. */
  readonly owner: string;
}

const kept = collection<KeptPlan>("governance_plan");

/** What a governance agent of this kind looks at. */
export const categories = [
  "budget_authority",
  "strategic_alignment",
  "geo_compliance",
  "custom_policy",
  "budget_drift",
  "audience_constraints",
] as const;

export const findPlan = (call: BehaviourCall, owner: string, planId: string): Promise<KeptPlan | undefined> =>
  kept.get(call, owner, planId);

/** Every plan that somebody has registered. */
export const ownersPlans = (call: BehaviourCall, owner: string): Promise<KeptPlan[]> => kept.list(call, owner);

export const callersPlans = (call: BehaviourCall): Promise<KeptPlan[]> => ownersPlans(call, call.principal);

/** @throws ToolError PLAN_NOT_FOUND, for somebody else's plan as well */
export async function planOf(call: BehaviourCall, planId: string, field = "plan_id"): Promise<KeptPlan> {
  const found = await findPlan(call, call.principal, planId);
  if (found === undefined) throw new ToolError("PLAN_NOT_FOUND", "there is no such plan", { field });
  return found;
}

async function keepPlan(call: BehaviourCall, plan: SpendingPlan): Promise<KeptPlan> {
  const { principal: owner, time: syncedAt } = call;
  const version = ((await findPlan(call, owner, plan.plan_id))?.version ?? 0) + 1;
  const made = { plan, version, syncedAt, owner };
  kept.put(call, owner, plan.plan_id, made);
  return made;
}

/** A plan's own policies, and those of the registry as far as somebody has their text. */
async function policiesOf(
  call: BehaviourCall,
  { custom_policies = [], policy_ids = [] }: SpendingPlan,
): Promise<WrittenPolicy[]> {
  const { policy } = call.ports;
  const found = await Promise.all(
    policy_ids.map((id) => call.once(`policy ${id}`, async () => policy.registered?.(id))),
  );
  return [...custom_policies, ...found.flatMap((one) => one ?? [])];
}

/** What a plan's policies come to, for one action where there is one. */
export async function readPolicies(
  call: BehaviourCall,
  plan: SpendingPlan,
  action?: JsonObject,
): Promise<ReadPolicy[]> {
  const { policy: port } = call.ports;
  const read = async (policy: WrittenPolicy): Promise<ReadPolicy> => {
    const rule = await port.spending(policy);
    const asked = rule.kind === "unread" && action !== undefined;
    const said = asked ? await port.action?.({ policy, action }) : undefined;
    return { policy, rule, ...(said !== undefined && { said }) };
  };
  return Promise.all((await policiesOf(call, plan)).map(read));
}

/** The policies of a plan as its answer lists them. */
const resolved = ({ custom_policies = [], policy_ids = [] }: SpendingPlan): JsonObject[] => [
  ...custom_policies.map(({ policy_id, enforcement }) => ({ policy_id, source: "explicit", enforcement })),
  ...policy_ids.map((policy_id) => ({ policy_id, source: "explicit", enforcement: "must" })),
];

/** Every policy id a check looks at. */
export const policyIds = (plan: SpendingPlan): unknown[] => resolved(plan).map(({ policy_id }) => policy_id);

/** `sync_plans`: registers plans, or new versions of them. One that is wrong fails all: half a plan is no plan. */
export const syncPlans: ToolBehaviour = async ({ plans }: { readonly plans: readonly SpendingPlan[] }, call) => {
  plans.forEach((plan, index) => {
    const fault = planFault(plan);
    if (fault !== undefined)
      throw new ToolError("INVALID_REQUEST", fault.message, { field: `plans[${index}].${fault.field}` });
  });
  const results: JsonObject[] = [];
  for (const plan of plans) {
    const { version } = await keepPlan(call, plan);
    results.push({
      plan_id: plan.plan_id,
      status: "active",
      version,
      categories: categories.map((category_id) => ({ category_id, status: "active" })),
      resolved_policies: resolved(plan),
    });
  }
  return call.answer({ plans: results });
};

/** `seed_plan`: a plan that is there before anybody registers it. */
export const planScenarios: Scenarios = {
  async seed_plan(params, call) {
    const plan = { ...(params.fixture as object), plan_id: textParam(params, "plan_id") } as SpendingPlan;
    if (typeof plan.budget?.total !== "number" || typeof plan.flight?.start !== "string")
      throw new ScenarioError("INVALID_PARAMS", "a plan needs its budget and its flight");
    const fault = planFault(plan);
    if (fault !== undefined) throw new ScenarioError("INVALID_PARAMS", fault.message);
    const { version } = await keepPlan(call, plan);
    return { message: `plan ${plan.plan_id} is there, version ${version}` };
  },
};
