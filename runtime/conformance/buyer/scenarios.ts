/** Which scenarios of a storyboard's fixtures the orders of a phase are answered with. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { Phase, Storyboard } from "../document.js";
import type { Scenario } from "./types.js";

export const fixturesOf = ({ fixtures }: Storyboard): JsonObject => {
  const block = fixtures?.fixture_publisher;
  return isJsonObject(block) ? block : {};
};

const namesOf = (value: unknown): string[] =>
  typeof value === "string" ? [value] : Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

/** Names that the phase or its steps give. */
const hinted = (phase: Phase): string[] => {
  const { scenarios, scenario } = phase as Phase & JsonObject;
  const own = [...namesOf(scenarios), ...namesOf(scenario)];
  return own.length > 0 ? own : phase.steps.flatMap((step) => namesOf(step.scenario));
};

/** A scenario that the phase's own text speaks of: by its error code, its task, or what a check says was answered. */
function isSpokenOf(scenario: Scenario, phase: Phase): boolean {
  const text = JSON.stringify(phase);
  const { error_code: code, task_id: task, response_type: type } = scenario;
  if (code !== undefined) return text.includes(code);
  if (task !== undefined && text.includes(task)) return true;
  return type === "submitted"
    ? /"response_type":"submitted"/.test(text)
    : type !== undefined && text.includes(`(${type})`);
}

/**
 * Scenarios of a phase, in their order. Hints come first, then what the text speaks of; what fails is then followed by
 * success, so that a request which comes again is answered.
 */
export function scenariosOf(storyboard: Storyboard, phase: Phase): Scenario[] {
  const table = isJsonObject(fixturesOf(storyboard).scenarios) ? (fixturesOf(storyboard).scenarios as JsonObject) : {};
  const known = Object.entries(table).filter((one): one is [string, JsonObject] => isJsonObject(one[1]));
  const hints = hinted(phase);
  if (hints.length > 0)
    return hints.flatMap((name) => known.filter(([id]) => id === name).map(([, one]) => one as Scenario));
  const spoken = known.map(([, one]) => one as Scenario).filter((one) => isSpokenOf(one, phase));
  const last = spoken.at(-1);
  return last === undefined || last.error_code !== undefined ? [...spoken, { response_type: "synchronous" }] : spoken;
}
