/** What an area tells the test controller: scenario -> what it does. It throws ScenarioError for what cannot be done. */
import type { JsonObject } from "adbind/contract";
import type { Call } from "../../handler.js";

export type Params = JsonObject;
export type Scenario = (params: Params, call: Call) => JsonObject;
export type Scenarios = { readonly [name: string]: Scenario };

/** Codes of the controller's own errors, which travel in its response. */
export type ScenarioCode = "INVALID_TRANSITION" | "INVALID_STATE" | "NOT_FOUND" | "UNKNOWN_SCENARIO" | "INVALID_PARAMS";

export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
  constructor(
    readonly code: ScenarioCode,
    message: string,
    /** State the resource is in; null where there is none. */
    readonly state: string | null = null,
  ) {
    super(message);
  }
}

/** A text parameter that must be there. */
export function textParam(params: Params, name: string): string {
  const value = params[name];
  if (typeof value === "string" && value !== "") return value;
  throw new ScenarioError("INVALID_PARAMS", `params.${name} must be a text`);
}
