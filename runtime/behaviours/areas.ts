/** Every area there is, and which of them a seller serves. */
import { isJsonObject, type JsonObject, type Release, toolsOfClaim } from "../contract/index.js";
import { keepNamed, requireKnown } from "./accounts/accounts.js";
import { accountsBehaviour, governanceAgentsBehaviour, governanceChecksBehaviour } from "./accounts/behaviour.js";
import { contentArtifactsBehaviour } from "./artifacts/behaviour.js";
import { audiencesBehaviour } from "./audiences/behaviour.js";
import { brandsBehaviour } from "./brands/behaviour.js";
import { buildingBehaviour, transformersBehaviour } from "./building/behaviour.js";
import { catalogsBehaviour } from "./catalogs/behaviour.js";
import { changesBehaviour } from "./changes/behaviour.js";
import { collectionListsBehaviour } from "./collections/behaviour.js";
import { controllerOf } from "./controller/controller.js";
import { sponsoredIntelligenceBehaviour } from "./conversations/behaviour.js";
import { creativesBehaviour } from "./creatives/behaviour.js";
import { deliveryBehaviour } from "./delivery/behaviour.js";
import { eventsBehaviour } from "./events/behaviour.js";
import { financialsBehaviour } from "./financials/behaviour.js";
import { formatsBehaviour } from "./formats/behaviour.js";
import type { Behaviour, ControllerScenario, Scenarios, Serving, ToolBehaviour } from "./frame/behaviour.js";
import type { BehaviourCall } from "./frame/call.js";
import { forcedScenarios, resetForced } from "./frame/forced.js";
import { governanceBehaviour } from "./governance/behaviour.js";
import { lifecycleBehaviour } from "./lifecycle/behaviour.js";
import { manifestsBehaviour } from "./manifests/behaviour.js";
import { mediaBuysBehaviour } from "./media-buys/behaviour.js";
import { previewsBehaviour } from "./previews/behaviour.js";
import { principalsBehaviour } from "./principals/behaviour.js";
import { productsBehaviour } from "./products/behaviour.js";
import { propertyListsBehaviour } from "./properties/behaviour.js";
import { provenanceBehaviour } from "./provenance/behaviour.js";
import { reportingBehaviour } from "./reporting/behaviour.js";
import { signalsBehaviour } from "./signals/behaviour.js";
import { contentStandardsBehaviour } from "./standards/behaviour.js";
import { creativeFeaturesBehaviour } from "./standards/features.js";
import { usageBehaviour } from "./usage/behaviour.js";

/** In the order in which their declarations are laid over each other. */
export const behaviours: readonly Behaviour[] = [
  accountsBehaviour,
  governanceAgentsBehaviour,
  governanceChecksBehaviour,
  formatsBehaviour,
  productsBehaviour,
  provenanceBehaviour,
  previewsBehaviour,
  manifestsBehaviour,
  creativesBehaviour,
  deliveryBehaviour,
  mediaBuysBehaviour,
  lifecycleBehaviour,
  usageBehaviour,
  buildingBehaviour,
  transformersBehaviour,
  signalsBehaviour,
  eventsBehaviour,
  catalogsBehaviour,
  audiencesBehaviour,
  financialsBehaviour,
  principalsBehaviour,
  changesBehaviour,
  reportingBehaviour,
  propertyListsBehaviour,
  collectionListsBehaviour,
  contentStandardsBehaviour,
  creativeFeaturesBehaviour,
  contentArtifactsBehaviour,
  brandsBehaviour,
  governanceBehaviour,
  sponsoredIntelligenceBehaviour,
];

const byArea = new Map(behaviours.map((one) => [one.area, one]));

/** What a seller serves of the library. */
export interface ServedAreas {
  readonly areas: readonly Behaviour[];
  readonly tools: ReadonlyMap<string, ToolBehaviour>;
  readonly scenarios: Scenarios;
  /** Tools that the specialisms name and no behaviour answers. */
  readonly missing: readonly string[];
}

export interface AreaChoice {
  /** Newest first; a tool of any of them is served. */
  readonly releases: readonly Release[];
  readonly specialisms: readonly string[];
  /** Areas that stand in no specialism. */
  readonly with?: readonly string[];
  /** Tools that the application answers itself. */
  readonly own?: Iterable<string>;
  /** What a test may ask of this seller beside what areas bring about. */
  readonly scenarios?: Scenarios;
}

const CONTROLLER = "comply_test_controller";

/** Tools that the seller answers from what it knows; see `builtInNames`. */
const isBuiltIn = (name: string): boolean =>
  /^get_\w+_capabilities$/.test(name) || name === "get_task_status" || name === "list_tasks";

/**
 * `reset_state`: the seller is to the caller as it was before the first call. Storyboards order, sync and register by the same
 * names each time they are run: what one run has left would be found by the next.
 */
const resetOf =
  (resets: readonly ((call: BehaviourCall) => Promise<void>)[]): ControllerScenario =>
  async (_, call) => {
    for (const reset of resets) await reset(call);
    await call.documents.removeAll(call.principal);
    // Who has a controller do something does it for an account that is there.
    await keepNamed(call);
    return { message: "what you had here is gone" };
  };

/** Tools that look for offers and negotiate them: nothing is bought by them. */
const lookingTools: ReadonlySet<string> = new Set([
  "get_products",
  "list_products",
  "get_signals",
  "request_proposals",
  "refine_proposals",
  "decline_proposals",
]);

const withKnownAccount =
  (behaviour: ToolBehaviour): ToolBehaviour =>
  async (request, call) => {
    await requireKnown(call);
    return behaviour(request, call);
  };

/** The areas of what the specialisms name, of what those need, and of what is asked for beside. */
export function servedAreas({
  releases,
  specialisms,
  with: beside = [],
  own = [],
  scenarios: more = {},
}: AreaChoice): ServedAreas {
  const [newest] = releases as readonly [Release];
  const claimed = specialisms.flatMap((id) => newest.specialisms[id] ?? []);
  const exercised = new Set(claimed.flatMap((one) => toolsOfClaim(one, Object.entries(newest.tools)).all));
  const chosen = new Set<string>(beside);
  for (const { area, tools } of behaviours)
    if (Object.keys(tools).some((name) => exercised.has(name))) chosen.add(area);
  // A set that grows while it is gone through: what a needed area needs is looked at too.
  for (const area of chosen) for (const needed of byArea.get(area)?.needs ?? []) chosen.add(needed);
  const areas = behaviours.filter(({ area }) => chosen.has(area));
  // A test may force what it likes: what is not there, it is told.
  const resets = [resetForced, ...behaviours.flatMap(({ reset }) => reset ?? [])];
  const scenarios = Object.assign(
    { reset_state: resetOf(resets) },
    forcedScenarios,
    ...behaviours.map((one) => one.scenarios ?? {}),
    more,
  ) as Scenarios;
  const all = [...areas, controllerOf(scenarios)];
  const offered = (name: string): boolean => releases.some(({ tools }) => Object.hasOwn(tools, name));
  const tools = new Map(
    all
      .flatMap((one) => Object.entries(one.tools))
      .filter(([name]) => offered(name))
      .map(([name, behaviour]) => [name, lookingTools.has(name) ? withKnownAccount(behaviour) : behaviour]),
  );
  const answered = new Set([...tools.keys(), ...own]);
  const missing = [...exercised].filter((name) => offered(name) && !answered.has(name) && !isBuiltIn(name));
  return { areas, tools, scenarios, missing };
}

/** Objects are laid over each other member by member; anything else is replaced. */
export function merge(base: JsonObject, more: JsonObject): JsonObject {
  const merged = { ...base };
  for (const [key, value] of Object.entries(more)) {
    const before = merged[key];
    merged[key] = isJsonObject(before) && isJsonObject(value) ? merge(before, value) : value;
  }
  return merged;
}

/**
 * The protocols, where tools of one are answered that no specialism of the release is of: nobody can claim it, and callers
 * have to be told. Else the claims say it all.
 */
function beyondClaims({ release, tools, specialisms }: Serving, declarable: readonly unknown[]): JsonObject {
  const snake = (protocol: string): string => protocol.replaceAll("-", "_");
  const homes = new Set(Object.values(release.specialisms).map(({ protocol }) => protocol));
  const served = [...tools].flatMap((name) => release.tools[name]?.protocol ?? []);
  const beyond = served.filter((protocol) => !homes.has(protocol) && declarable.includes(snake(protocol)));
  if (beyond.length === 0) return {};
  const claimed = specialisms.flatMap((id) => release.specialisms[id]?.protocol ?? []);
  const chosen = claimed.length > 0 ? claimed : served.filter((protocol) => homes.has(protocol));
  return { supported_protocols: [...new Set([...chosen, ...beyond].map(snake))].sort() };
}

/** What several of them try out stands in one list. */
export function triedBy(each: readonly JsonObject[]): JsonObject {
  const tried = new Set(each.flatMap(({ experimental_features: some }) => (Array.isArray(some) ? some : [])));
  return tried.size === 0 ? {} : { experimental_features: [...tried] };
}

/** What the areas declare, in the terms of one release. */
export function declaredBy({ areas, scenarios }: ServedAreas, serving: Serving, word: string): JsonObject {
  const shape = serving.shapes.answer(
    ["get_agent_capabilities", `get_${word}_capabilities`].find((name) => serving.shapes.offers(name)) ?? "",
  );
  const each = areas.map((one) => one.capabilities?.(serving) ?? {});
  const all = { ...each.reduce(merge, {}), ...triedBy(each) };
  const allowed = shape.values("compliance_testing", "scenarios", "*");
  const declarable = Object.keys(scenarios).filter((name) => allowed?.includes(name) ?? true);
  const controlled = serving.tools.has(CONTROLLER) && declarable.length > 0;
  return shape.fit({
    // Who asks without a version learns which one answers.
    [`${word}_version`]: serving.version,
    ...beyondClaims(serving, shape.values("supported_protocols", "*") ?? []),
    ...all,
    ...(controlled && { compliance_testing: { scenarios: declarable } }),
  });
}
