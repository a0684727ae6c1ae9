/** One storyboard: its phases in order, what a failed step takes with it, and what it comes to. */
import { isJsonObject } from "../contract/index.js";
import { unfilledBranches } from "./branches.js";
import { CONTROLLER, reset, type Seeding, type SeedOutcome, seed } from "./controller.js";
import type { Phase, StoryboardStep } from "./document.js";
import { faultsOf, isDone } from "./faulty.js";
import { type FixturesFound, resolveFixtures } from "./fixtures.js";
import { storyboardSkip } from "./gates.js";
import { suiteFile } from "./load.js";
import { phaseSkip } from "./phases.js";
import { sessionsFor } from "./pins.js";
import type { Skip, StepResult, StoryboardResult } from "./result.js";
import { agentByKey } from "./routes.js";
import type { Selected } from "./select.js";
import type { KnownAgent, RunState, StoryState } from "./state.js";
import { runStep, skipped } from "./step.js";
import { missingTool } from "./step-gates.js";
import { stepHash } from "./step-words.js";
import { taskOf } from "./tool-names.js";
import { vectorSteps } from "./vectors.js";

/** Gives a value that five storyboards of the 3.0 line use and none of them sets. */
const GOVERNANCE_AGENT = "https://governance.example/mcp";

function startStory(run: RunState, selected: Selected): StoryState {
  const { storyboard } = selected;
  const kitFile = storyboard.prerequisites?.test_kit;
  const kit = (kitFile && suiteFile(run.suite, kitFile)) || {};
  const preset = Object.entries(isJsonObject(storyboard.context) ? storyboard.context : {});
  const governance = agentByKey("governance", run)?.url ?? GOVERNANCE_AGENT;
  return {
    run,
    storyboard,
    kit,
    context: new Map<string, unknown>([["governance_agent_url", governance], ...preset]),
    flags: new Map(),
    results: new Map(),
    history: [],
    answers: new Map(),
    startedAt: new Map(),
    operationIds: new Map(),
    bindings: [],
    sessionOf: sessionsFor(run),
  };
}

/** What steps that did not pass take with them. */
class Cascade {
  /** Phase -> the step that broke it. */
  private readonly broken = new Map<string, StepResult>();
  private readonly substituted = new Set<string>();

  constructor(private readonly phases: readonly Phase[]) {}

  /** The step whose failure an ordered stateful step falls with. */
  cause(phase: Phase): StepResult | undefined {
    const own = this.broken.get(phase.id);
    if (own !== undefined) return own;
    const before = this.phases.slice(0, this.phases.indexOf(phase)).map(({ id }) => id);
    const peers = new Set(this.phases.filter((one) => isPeer(one, phase)).map(({ id }) => id));
    const needed = (phase.depends_on ?? before).filter((id) => !peers.has(id));
    return needed.map((id) => this.broken.get(id)).find((one) => one !== undefined);
  }

  record(step: StoryboardStep, phase: Phase, result: StepResult): void {
    if (result.status === "passed") for (const id of [step.provides_state_for ?? []].flat()) this.substitute(id, phase);
    if (step.stateful !== true || this.substituted.has(step.id) || !breaks(step, phase, result)) return;
    // A branch that was not taken takes nothing with it.
    if (phase.optional === true && phase.branch_set !== undefined) return;
    if (!this.broken.has(phase.id)) this.broken.set(phase.id, result);
  }

  private substitute(id: string, phase: Phase): void {
    this.substituted.add(id);
    for (const [name, result] of this.broken) if (result.step === id) this.broken.delete(name);
    if (this.broken.get(phase.id)?.step === id) this.broken.delete(phase.id);
  }

  isSubstituted(id: string): boolean {
    return this.substituted.has(id);
  }
}

const isPeer = (left: Phase, right: Phase): boolean =>
  left !== right && left.branch_set !== undefined && left.branch_set.id === right.branch_set?.id;

const breaking = new Set(["prerequisite_failed", "unsatisfied_contract", "missing_tool", "missing_test_controller"]);
const excused = new Set(["not_applicable", "missing_tool", "missing_test_controller"]);

function breaks(step: StoryboardStep, phase: Phase, { status, skip }: StepResult): boolean {
  if (status === "failed") return true;
  if (status !== "skipped" || skip === undefined || !breaking.has(skip.reason)) return false;
  const lone = phase.steps.every((one) => one === step || one.stateful !== true);
  return !(lone && excused.has(skip.reason));
}

function contribution(step: StoryboardStep, phase: Phase): string | undefined {
  if (step.contributes !== true && step.contributes_to === undefined) return undefined;
  return step.contributes_to ?? phase.branch_set?.id;
}

/** `prior_step.<id>.passed` */
const condition = (expression: string | undefined, story: StoryState): boolean => {
  if (expression === undefined) return true;
  const id = /prior_step\.([\w-]+)\.passed/.exec(expression)?.[1];
  return id !== undefined && story.results.get(id)?.status === "passed";
};

/** The first deliveries that a later step expects to be repeated are refused: that has to stand before the trigger is sent. */
function armRetries(story: StoryState): void {
  for (const { steps } of story.storyboard.phases)
    for (const step of steps) {
      const { retry_trigger: retry, triggered_by: trigger } = step;
      if (!isJsonObject(retry) || trigger === undefined) continue;
      const count = typeof retry.count === "number" ? Math.min(Math.max(1, retry.count), 10) : 3;
      const status = typeof retry.http_status === "number" ? retry.http_status : 503;
      story.run.catcher?.refuse(story.storyboard.id, trigger, count, status);
    }
}

async function runPhase(phase: Phase, story: StoryState, cascade: Cascade): Promise<void> {
  const left = phaseSkip(phase, story);
  let ended: Skip | undefined = left;
  for (const step of phase.steps) {
    const cause = step.stateful === true && !cascade.isSubstituted(step.id) ? cascade.cause(phase) : undefined;
    const fallen: Skip | undefined = cause && {
      reason: "prerequisite_failed",
      detail: `${cause.step} ${cause.status === "failed" ? "failed" : `was skipped (${cause.skip?.reason})`}`,
    };
    // A step whose own tool is missing would have been left out anyway: that is the truer reason.
    const skip = ended ?? (fallen && (missingTool(step, story) ?? fallen));
    const { endsPhase, ...result } =
      skip === undefined
        ? await runStep(step, phase, story)
        : { ...skipped(step, phase, story, skip), endsPhase: false };
    if (endsPhase) ended = result.skip;
    story.results.set(step.id, result);
    if (!isDone(result, faultsOf(story.run.release.version))) cascade.record(step, phase, result);
    const flag = contribution(step, phase);
    if (
      flag !== undefined &&
      result.status === "passed" &&
      condition(step.contributes_if, story) &&
      !story.flags.has(flag)
    )
      story.flags.set(flag, `${phase.id}.${step.id}`);
  }
}

/** Phases of what an operation brings about, from the one that calls it on, before an agent that offers no such operation. */
function idlePhases(story: StoryState): { phases: ReadonlySet<Phase>; skip: Skip } | undefined {
  const { tools } = story.run.primary;
  const { phases } = story.storyboard;
  const isTrigger = ({ task }: StoryboardStep): boolean => task.startsWith("$test_kit.operations.");
  const from = phases.findIndex(({ steps }) => steps.some(isTrigger));
  const trigger = phases[from]?.steps.find(isTrigger);
  const task = trigger && taskOf(trigger, story.kit, tools);
  if (task === undefined || tools.size === 0 || tools.has(task)) return undefined;
  const skip: Skip = {
    reason: "not_applicable",
    detail: `the agent would have to offer ${task}, which webhooks follow`,
  };
  return { phases: new Set(phases.slice(from)), skip };
}

const allSkipped = (story: StoryState, skip: Skip, phases: Iterable<Phase> = story.storyboard.phases): void => {
  for (const phase of phases)
    for (const step of phase.steps) story.results.set(step.id, skipped(step, phase, story, skip));
};

/** Has the agent prepare what the storyboard starts from. @returns whether it may be run */
async function prepare(story: StoryState): Promise<boolean> {
  const { storyboard, run } = story;
  const { primary, agents, release } = run;
  const answered = { word: release.word, tool: release.tools[CONTROLLER] };
  const seedingAt = (agent: KnownAgent): Seeding => {
    const { scenarios } = agent;
    return { session: story.sessionOf(agent), scenarios, answered, sleep: run.sleep };
  };
  for (const agent of [primary, ...agents.values()]) {
    const { failed } = await reset(storyboard, seedingAt(agent));
    if (failed !== undefined) return unprepared(story, failed);
  }
  const seeding = seedingAt(primary);
  if (storyboard.prerequisites?.controller_seeding !== true) return true;
  const controlled = primary.tools.size === 0 || primary.tools.has(CONTROLLER);
  const { fixture_resolution: ways } = storyboard;
  if (!controlled && ways === undefined) {
    const detail = `the storyboard starts from prepared state: the agent would have to offer ${CONTROLLER} (on a sandbox)`;
    allSkipped(story, { reason: "missing_test_controller", detail });
    return false;
  }
  const outcome: FixturesFound =
    ways === undefined ? await seed(storyboard, seeding) : await resolveFixtures(storyboard, seeding, controlled);
  story.bindings.push(...(outcome.bindings ?? []));
  if (outcome.skip !== undefined) {
    allSkipped(story, outcome.skip);
    return false;
  }
  return outcome.failed === undefined || unprepared(story, outcome.failed);
}

/** What was refused fails, and the rest is not run. */
function unprepared(story: StoryState, { answer, problem }: NonNullable<SeedOutcome["failed"]>): false {
  allSkipped(story, { reason: "prerequisite_failed", detail: problem });
  story.results.set("__seeding__", seedingStep(story, problem, answer));
  return false;
}

function seedingStep(
  story: StoryState,
  problem: string,
  answer: { request: StepResult["request"]; payload: unknown; headers: Readonly<Record<string, string>> },
): StepResult {
  const step: StoryboardStep = { id: "__seeding__", task: CONTROLLER, title: "State that the storyboard starts from" };
  return {
    storyboard: story.storyboard.id,
    phase: "__seeding__",
    step: step.id,
    title: step.title!,
    task: CONTROLLER,
    status: "failed",
    problem,
    checks: [],
    required: "the test controller prepares the fixtures of the storyboard",
    hash: stepHash(step),
    tookMs: 0,
    ...(answer.request && { request: answer.request }),
    response: { headers: answer.headers, payload: answer.payload, origin: "structured_content" },
  };
}

/** Reasons for which a storyboard does not speak of the agent. */
const noFault = new Set<string>([
  "not_applicable",
  "fixture_unavailable",
  "fixture_unsatisfied",
  "missing_test_controller",
  "peer_branch_taken",
  "requirement_unmet",
]);

function verdictOf(steps: readonly StepResult[], story: StoryState): Pick<StoryboardResult, "verdict" | "reason"> {
  if (steps.some(({ status }) => status === "failed")) return { verdict: "failed" };
  const optional = new Set(story.storyboard.phases.filter((phase) => phase.optional).map(({ id }) => id));
  const required = steps.filter(({ phase }) => !optional.has(phase));
  if (required.some(({ status }) => status === "passed" || status === "faulty")) return { verdict: "passed" };
  const [first] = required.filter(({ skip }) => skip !== undefined);
  const reason = first?.skip === undefined ? "it has no steps" : `${first.skip.reason}: ${first.skip.detail}`;
  const excused = required.every(
    ({ skip, status }) => status === "not_graded" || (skip !== undefined && noFault.has(skip.reason)),
  );
  return { verdict: excused ? "not_applicable" : "gap", reason };
}

/** Runs one storyboard against the agent of the run. */
export async function runStoryboard(run: RunState, selected: Selected): Promise<StoryboardResult> {
  const story = startStory(run, selected);
  const { storyboard } = selected;
  run.invariants.startStoryboard();
  const facts = { ...run.gates, features: run.features, tools: run.primary.tools };
  const skip = storyboardSkip(storyboard, facts, selected.claimed);
  if (skip !== undefined && run.primary.tools.size > 0) allSkipped(story, skip);
  else if (await prepare(story)) {
    armRetries(story);
    const cascade = new Cascade(storyboard.phases);
    const idle = idlePhases(story);
    for (const phase of storyboard.phases)
      if (idle?.phases.has(phase)) allSkipped(story, idle.skip, [phase]);
      else await runPhase(phase, story, cascade);
    for (const result of await vectorSteps(story)) story.results.set(result.step, result);
  }
  const steps = unfilledBranches([...story.results.values()], story);
  return {
    id: storyboard.id,
    title: storyboard.title ?? storyboard.id,
    ...(storyboard.track !== undefined && { track: storyboard.track }),
    file: storyboard.file,
    steps,
    ...verdictOf(steps, story),
  };
}
