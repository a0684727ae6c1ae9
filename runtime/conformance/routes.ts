/** Which agent a step is for. */
import { isJsonObject } from "../contract/index.js";
import type { StoryboardStep } from "./document.js";
import type { KnownAgent, RunState, StoryState } from "./state.js";

/** Roles that storyboards route by, with the protocol that an agent in one declares. */
const roles: Readonly<Record<string, string>> = {
  sales: "media_buy",
  governance: "governance",
  brand: "brand",
  signals: "signals",
  "creative-builder": "creative",
  creative: "creative",
};

const declares = (agent: KnownAgent, role: string): boolean => {
  const protocols = agent.capabilities?.supported_protocols;
  const protocol = Object.hasOwn(roles, role) ? roles[role]! : role;
  return Array.isArray(protocols) && protocols.some((one) => String(one).replaceAll("-", "_") === protocol);
};

/** The agent of a route key; undefined where the run has none. */
export function agentByKey(key: string | undefined, run: RunState): KnownAgent | undefined {
  if (key === undefined) return run.primary;
  const named = run.agents.get(key);
  if (named !== undefined) return named;
  return declares(run.primary, key) ? run.primary : undefined;
}

/** The agent of a step: its own key, the one agent that offers the task, the storyboard's, the run's. */
export function agentFor(step: StoryboardStep, task: string, story: StoryState): KnownAgent | undefined {
  const { run, storyboard } = story;
  if (step.agent !== undefined) return agentByKey(step.agent, run);
  if (run.agents.size === 0) return run.primary;
  const able = [run.primary, ...run.agents.values()].filter(({ tools }) => tools.has(task));
  const [only] = able;
  if (only !== undefined && able.every((one) => one === only)) return only;
  return agentByKey(storyboard.default_agent, run) ?? run.primary;
}

/** How many of the route keys of a run lead to an agent. */
export const countRoutes = (agents: ReadonlyMap<string, unknown>, capabilities: unknown): number =>
  agents.size + (isJsonObject(capabilities) ? 1 : 0);
