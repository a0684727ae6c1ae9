/** Why a step is not sent, or its answer says nothing: what it needs is not offered. */
import { isJsonObject, type JsonObject } from "../contract/index.js";
import type { AgentAnswer } from "./agent/types.js";
import { CONTROLLER } from "./controller.js";
import type { StoryboardStep } from "./document.js";
import { ownTask } from "./own-tasks.js";
import type { Skip } from "./result.js";
import { agentFor } from "./routes.js";
import type { KnownAgent, StoryState } from "./state.js";
import { taskOf } from "./tool-names.js";

const offersAccounts = (story: StoryState): unknown => {
  const account = story.run.primary.capabilities?.account;
  return isJsonObject(account) ? account.require_operator_auth : undefined;
};

/** The tool that a step needs and its agent does not offer. */
export function missingTool(step: StoryboardStep, story: StoryState): Skip | undefined {
  const task = taskOf(step, story.kit, story.run.primary.tools);
  const agent = agentFor(step, task, story);
  return agent === undefined || ownTask(task) !== undefined ? undefined : lackingTool(step, task, agent, story);
}

function lackingTool(step: StoryboardStep, task: string, agent: KnownAgent, story: StoryState): Skip | undefined {
  if (agent.tools.size === 0) return undefined;
  const lacks = [step.requires_tool, task].find((tool) => tool !== undefined && !agent.tools.has(tool));
  if (lacks === undefined) return undefined;
  if (lacks === CONTROLLER) {
    const detail = `the agent would have to offer ${CONTROLLER} (on a sandbox)`;
    return { reason: "missing_test_controller", detail };
  }
  if (lacks === "sync_accounts" && offersAccounts(story) === true) {
    const detail = "the agent declares account.require_operator_auth and no sync_accounts";
    return { reason: "not_applicable", detail };
  }
  // Any protected read would do for a probe: an agent without one has none to protect.
  if (step.task.endsWith(".probe_task"))
    return { reason: "not_applicable", detail: "the agent offers no protected read that a probe could call" };
  // Names of what a runner is to look at itself: no agent offers such a tool.
  if (/^(expect|assert)_/.test(lacks) && !Object.hasOwn(story.run.release.tools, lacks))
    return { reason: "not_applicable", detail: `this runner does not know the step ${lacks}` };
  return { reason: "missing_tool", detail: `the agent would have to offer the tool ${lacks}` };
}

/** Why a step cannot be sent to its agent. */
export function stepSkip(
  step: StoryboardStep,
  task: string,
  agent: KnownAgent | undefined,
  story: StoryState,
): Skip | undefined {
  const { run } = story;
  if (agent === undefined)
    return {
      reason: "requirement_unmet",
      detail: `the step is for the agent ${step.agent}: name it with --agent ${step.agent}=URL`,
    };
  const contract = step.requires_contract;
  if (contract !== undefined && !run.contracts.has(contract)) {
    const detail = `${contract}: the run does not keep this contract (--contract ${contract})`;
    return { reason: "unsatisfied_contract", detail };
  }
  return ownTask(task) === undefined ? lackingTool(step, task, agent, story) : undefined;
}

/** A scenario that prepares or forces a state, and that the agent's controller does not have. */
export function unknownScenario(
  step: StoryboardStep,
  task: string,
  args: JsonObject,
  answer: AgentAnswer | undefined,
): Skip | undefined {
  const { scenario } = args;
  if (task !== CONTROLLER || typeof scenario !== "string" || !/^(seed|force)_/.test(scenario)) return undefined;
  if (answer?.payload?.error !== "UNKNOWN_SCENARIO" || step.expect_error === true) return undefined;
  return { reason: "not_applicable", detail: `the test controller would have to know the scenario ${scenario}` };
}
