/** The test controller: brings about by command what otherwise takes a human or time. Development only. */
import type { JsonObject } from "../../contract/index.js";
import { type Behaviour, ScenarioError, type Scenarios } from "../frame/behaviour.js";
import type { BehaviourReply, BehaviourToolCall } from "../frame/call.js";

interface Wanted {
  readonly scenario?: string;
  readonly params?: JsonObject;
}

async function run(scenarios: Scenarios, { scenario, params }: Wanted, call: BehaviourToolCall): Promise<JsonObject> {
  const name = typeof scenario === "string" ? scenario : "";
  const given = typeof params === "object" && params !== null ? params : {};
  if (call.ctx.mode !== "development")
    return { success: false, error: "FORBIDDEN", error_detail: "this seller is in production" };
  if (name === "list_scenarios") {
    // A release lists those it knows.
    const known = call.shape.values("scenarios", "*");
    const names = Object.keys(scenarios).filter((name) => known?.includes(name) ?? true);
    return { success: true, scenarios: names.sort() };
  }
  const found = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined;
  if (found === undefined)
    return { success: false, error: "UNKNOWN_SCENARIO", error_detail: `this seller has no scenario ${name}` };
  try {
    return { success: true, ...(await found(given, call)) };
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return { success: false, error: error.code, error_detail: error.message, current_state: error.state };
  }
}

/** Answers for all areas' scenarios. */
export const controllerOf = (scenarios: Scenarios): Behaviour => ({
  area: "controller",
  tools: {
    comply_test_controller: async (request: Wanted, call): Promise<BehaviourReply> =>
      call.answer(await run(scenarios, request, call)),
  },
});
