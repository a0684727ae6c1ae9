import { audienceState, findAudience, saveAudience } from "../audiences/behaviour.js";
import { toldOf } from "../buys/impairments.js";
import { ScenarioError, type Scenarios, textParam } from "../frame/behaviour.js";

const states: readonly string[] = ["processing", "ready", "too_small", "suspended"];

/** `force_audience_status`: the buys that target an audience are told when it goes off the air, and when it is back. */
export const audienceScenarios: Scenarios = {
  async force_audience_status(params, call) {
    const id = textParam(params, "audience_id");
    const status = textParam(params, "status");
    const found = await findAudience(call, id);
    if (found === undefined) throw new ScenarioError("NOT_FOUND", `no audience ${id}`);
    const previous = audienceState(found);
    if (!states.includes(status))
      throw new ScenarioError("INVALID_PARAMS", `${status} is no state of an audience`, previous);
    saveAudience(call, { ...found, fixed: status });
    const reason = typeof params.reason === "string" ? params.reason : "policy_violation";
    const offline = status === "suspended" ? { to: status, reason_code: reason } : undefined;
    const { account_id: account } = found;
    await toldOf(call, [{ type: "audience", id, account, offline }]);
    return { previous_state: previous, current_state: status };
  },
};
