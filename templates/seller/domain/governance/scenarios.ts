import { ScenarioError, type Scenarios, textParam } from "../controller/scenario.js";
import { type Plan, planFault } from "./plan.js";
import { keepPlan } from "./plans.js";

/** `seed_plan`: a plan that is there before anybody registers it. */
export const scenarios: Scenarios = {
  seed_plan(params, call) {
    const plan = { ...(params.fixture as object), plan_id: textParam(params, "plan_id") } as Plan;
    if (typeof plan.budget?.total !== "number" || typeof plan.flight?.start !== "string") {
      throw new ScenarioError("INVALID_PARAMS", "a plan needs its budget and its flight");
    }
    const fault = planFault(plan);
    if (fault !== undefined) throw new ScenarioError("INVALID_PARAMS", fault.message);
    const { version } = keepPlan(call, plan);
    return { message: `plan ${plan.plan_id} is there, version ${version}` };
  },
};
