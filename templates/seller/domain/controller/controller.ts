/** The test controller: brings about by command what otherwise takes a human or time. Development only. */
import type { JsonObject } from "adbind/contract";
import type { Call } from "../../handler.js";
import { ScenarioError, type Scenarios } from "./scenario.js";

export function runScenario(scenarios: Scenarios, call: Call, name: string, params: JsonObject): JsonObject {
  if (call.ctx.mode !== "development")
    return { success: false, error: "FORBIDDEN", error_detail: "this seller is in production" };
  if (name === "list_scenarios") return { success: true, scenarios: Object.keys(scenarios).sort() };
  const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined;
  if (scenario === undefined)
    return { success: false, error: "UNKNOWN_SCENARIO", error_detail: `this seller has no scenario ${name}` };
  try {
    return { success: true, ...scenario(params, call) };
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return { success: false, error: error.code, error_detail: error.message, current_state: error.state };
  }
}
