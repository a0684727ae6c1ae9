/** Which agent a step is for. */
import { isJsonObject, type Release } from "../contract/index.js";
import type { Storyboard, StoryboardStep } from "./document.js";
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

const snake = (name: unknown): string => String(name).replaceAll("-", "_");

const declares = (agent: KnownAgent, role: string): boolean => {
  const protocols = agent.capabilities?.supported_protocols;
  const protocol = Object.hasOwn(roles, role) ? roles[role]! : role;
  return Array.isArray(protocols) && protocols.some((one) => snake(one) === protocol);
};

/** The agent of a route key; undefined where the run has none. */
export function agentByKey(key: string | undefined, run: RunState): KnownAgent | undefined {
  if (key === undefined) return run.primary;
  const named = run.agents.get(key);
  if (named !== undefined) return named;
  return declares(run.primary, key) ? run.primary : undefined;
}

/** What every agent must do is asked of the agent under test, whoever else could do it. */
const ofEveryAgent = ({ file, default_agent }: Storyboard): boolean =>
  file.startsWith("universal/") && default_agent === undefined;

/** Protocols that a task belongs to: its own, and those of the specialisms that begin with it. */
function protocolsOf(task: string, { tools, specialisms }: Release): ReadonlySet<string> {
  const beginning = Object.values(specialisms).filter(({ entryPoints }) => entryPoints.includes(task));
  const own = Object.hasOwn(tools, task) ? [tools[task]!.protocol] : [];
  return new Set([...own, ...beginning.map(({ protocol }) => protocol)].map(snake));
}

/** Whether an agent says that it speaks the protocol of a task, whether or not it offers it. */
function claims({ capabilities }: KnownAgent, task: string, release: Release): boolean {
  const wanted = protocolsOf(task, release);
  const declared = capabilities?.supported_protocols;
  return Array.isArray(declared) && declared.some((one) => wanted.has(snake(one)));
}

/** Fixtures that are put into the agent under test, and the protocol whose tasks are about them. */
const seeded: readonly (readonly [list: string, protocol: string])[] = [
  ["products", "media_buy"],
  ["pricing_options", "media_buy"],
  ["media_buys", "media_buy"],
];

/** Nobody else can be asked for what a storyboard has put into the agent under test. */
const isSeeded = ({ fixtures = {}, prerequisites }: Storyboard, task: string, release: Release): boolean =>
  prerequisites?.controller_seeding === true &&
  seeded.some(([list, protocol]) => Object.hasOwn(fixtures, list) && protocolsOf(task, release).has(protocol));

/**
 * The agent of a step: its own key's; the agent under test for what it claims or offers, of whose state the other steps of a
 * storyboard are, and for what was put into it; else the one that claims the task's protocol, the storyboard's, or the one that offers the task.
 */
export function agentFor(step: StoryboardStep, task: string, story: StoryState): KnownAgent | undefined {
  const { run, storyboard } = story;
  const { primary, agents, release } = run;
  if (step.agent !== undefined) return agentByKey(step.agent, run);
  const own = ofEveryAgent(storyboard) || primary.tools.has(task) || claims(primary, task, release);
  if (agents.size === 0 || own || isSeeded(storyboard, task, release)) return primary;
  const [claimant, ...more] = [...agents.values()].filter((one) => claims(one, task, release));
  if (claimant !== undefined && more.length === 0) return claimant;
  if (storyboard.default_agent !== undefined) return agentByKey(storyboard.default_agent, run) ?? primary;
  const [offering, ...others] = [...agents.values()].filter(({ tools }) => tools.has(task));
  return offering !== undefined && others.length === 0 ? offering : primary;
}

/** How many of the route keys of a run lead to an agent. */
export const countRoutes = (agents: ReadonlyMap<string, unknown>, capabilities: unknown): number =>
  agents.size + (isJsonObject(capabilities) ? 1 : 0);
