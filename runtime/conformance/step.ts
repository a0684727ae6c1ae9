/** One step: may it run, what is sent, what came back, and what that is worth. */
import { isJsonObject, type JsonObject } from "../contract/index.js";
import { rawMcpCall } from "./agent/mcp.js";
import { type AnsweredTool, errorCodeOf, isFailedAnswer } from "./agent/outcome.js";
import { callPatiently } from "./agent/patient.js";
import type { AgentAnswer } from "./agent/types.js";
import { capture, provides } from "./captures.js";
import type { CheckView } from "./checks/types.js";
import { completionOf } from "./completion.js";
import type { Phase, StoryboardStep } from "./document.js";
import { faultsOf, isAtFault, takesError } from "./faulty.js";
import { outcomeProblem, runChecks } from "./grade.js";
import { disabledInvariants } from "./invariants.js";
import { authorizationOf } from "./kit.js";
import type { OwnOutcome } from "./own-task.js";
import { ownTask } from "./own-tasks.js";
import { dispatchParallel } from "./parallel.js";
import { isNameUsed } from "./phases.js";
import { currentPin } from "./pins.js";
import { requestOf, substituteIn } from "./request.js";
import { type GradedCheck, isBroken, type Skip, type StepResult } from "./result.js";
import { agentFor } from "./routes.js";
import type { KnownAgent, StoryState } from "./state.js";
import { stepSkip, unknownScenario } from "./step-gates.js";
import { oneLine, stepHash } from "./step-words.js";
import { taskOf } from "./tool-names.js";
import { upstreamOf } from "./upstream.js";

type Known = Pick<StepResult, "storyboard" | "phase" | "step" | "title" | "task" | "required" | "hash">;

function known(step: StoryboardStep, phase: Phase, story: StoryState): Known {
  return {
    storyboard: story.storyboard.id,
    phase: phase.id,
    step: step.id,
    title: oneLine(step.title ?? step.id),
    task: step.task,
    required: oneLine(step.expected ?? step.narrative ?? step.title),
    hash: stepHash(step),
  };
}

/** A step that is not run. */
export const skipped = (step: StoryboardStep, phase: Phase, story: StoryState, skip: Skip): StepResult => ({
  ...known(step, phase, story),
  status: "skipped",
  skip,
  checks: [],
  tookMs: 0,
});

async function send(
  step: StoryboardStep,
  task: string,
  args: JsonObject,
  agent: KnownAgent,
  story: StoryState,
): Promise<AgentAnswer[]> {
  const { run } = story;
  story.startedAt.set(step.id, run.now());
  const operation = isJsonObject(args.push_notification_config)
    ? args.push_notification_config.operation_id
    : undefined;
  if (typeof operation === "string") story.operationIds.set(step.id, operation);
  const session = story.sessionOf(agent);
  if (step.auth !== undefined) {
    const { fetch, uuid, now, timeoutMs } = run;
    const authorization = authorizationOf(step.auth, story.kit, run);
    return [await rawMcpCall({ url: agent.url, fetch, uuid, now, timeoutMs, authorization }, task, args)];
  }
  if (isJsonObject(step.parallel_dispatch))
    return dispatchParallel(step.parallel_dispatch, { task, args, session, run });
  return [await callPatiently(session, story.run.sleep, task, args)];
}

interface Judging {
  readonly step: StoryboardStep;
  readonly task: string;
  readonly agent: KnownAgent;
  readonly story: StoryState;
  readonly args: JsonObject;
  readonly answers: readonly AgentAnswer[];
}

function viewOf({ step, task, agent, story, args, answers }: Judging, answered: AnsweredTool): CheckView {
  const [answer] = answers;
  const { run } = story;
  return {
    step: { ...step, task },
    answered,
    payload: answer?.payload ?? undefined,
    answer,
    answers,
    sent: args,
    context: story.context,
    history: story.history,
    flags: new Set(story.flags.keys()),
    schemas: run.schemas,
    agentUrl: agent.url,
    substitute: (template) => substituteIn(story, agent.url, template),
    upstream: upstreamOf(step, args, agent, story),
    fetch: run.fetch,
  };
}

const answeredToolOf = (task: string, story: StoryState): AnsweredTool => {
  const { word, tools } = story.run.release;
  return { word, tool: Object.hasOwn(tools, task) ? tools[task] : undefined };
};

/** What an answer is worth: its outcome, its checks, what is taken from it, and what holds always. */
async function judge(
  judging: Judging,
  own: OwnOutcome | undefined,
): Promise<{ checks: GradedCheck[]; problem?: string }> {
  const { step, task, story, answers } = judging;
  const [answer] = answers;
  const answered = answeredToolOf(task, story);
  const code = answer && errorCodeOf(answer, answered)?.code;
  const failed = answer !== undefined && isFailedAnswer(answer, answered);
  // An error that the step's text takes as well: the schema of a success is not what it is held to.
  const taken = failed && code !== undefined && takesError(story.storyboard.id, step.id, stepHash(step));
  const asked = (step.validations ?? []).filter(({ check }) => !(taken && check === "response_schema"));
  const base =
    own !== undefined
      ? own.problem
      : answer && !taken
        ? outcomeProblem({ ...step, task }, answer, answered)
        : undefined;
  const checks = [...(own?.checks ?? []), ...(await runChecks(asked, viewOf(judging, answered)))];
  const passed = base === undefined && !checks.some(isBroken);
  if (answer !== undefined && own === undefined && !checks.some((one) => one.schema !== undefined && isBroken(one))) {
    const observed = { storyboard: story.storyboard, step, task, answer, code, passed, failed };
    checks.push(...story.run.invariants.observe(observed, disabledInvariants(story.storyboard, step)));
  }
  if (passed && answer !== undefined) {
    const completion = await completionOf(step, answer, judging.agent, story);
    const generate = (template: string): unknown => substituteIn(story, judging.agent.url, template).value;
    const { context } = story;
    const isUsed = (name: string): boolean => isNameUsed(name, step, story);
    checks.push(...capture(step, task, { payload: answer.payload, completion, context, generate, isUsed }));
  }
  return { checks, ...(base !== undefined && { problem: base }) };
}

function statusOf(problem: string | undefined, checks: readonly GradedCheck[]): StepResult["status"] {
  if (problem !== undefined || checks.some(isBroken)) return "failed";
  return checks.some(({ outcome, advisory }) => outcome === "not_graded" && advisory !== true)
    ? "not_graded"
    : "passed";
}

function evidence(answer: AgentAnswer | undefined): Pick<StepResult, "request" | "response"> {
  if (answer === undefined) return {};
  const { request, status, headers, payload, origin, error, body } = answer;
  const shown = payload ?? (error === undefined ? body : { error });
  return { request, response: { ...(status !== undefined && { status }), headers, payload: shown, origin } };
}

async function ownStep(
  step: StoryboardStep,
  phase: Phase,
  story: StoryState,
  outcome: OwnOutcome,
): Promise<StepResult> {
  const { answer, skip, problem, notGraded } = outcome;
  if (skip !== undefined) return { ...skipped(step, phase, story, skip), ...evidence(answer) };
  if (answer !== undefined) story.answers.set(step.id, answer);
  const answers = answer === undefined ? [] : [answer];
  const judging = { step, task: step.task, agent: story.run.primary, story, args: {}, answers };
  const { checks } = await judge(judging, outcome);
  const graded =
    notGraded === undefined
      ? checks
      : [...checks, { check: step.task, outcome: "not_graded" as const, note: notGraded }];
  const status = statusOf(problem, graded);
  return {
    ...known(step, phase, story),
    status,
    checks: graded,
    ...(problem && { problem }),
    ...evidence(answer),
    tookMs: answer?.tookMs ?? 0,
  };
}

/** Runs one step. */
export async function runStep(
  step: StoryboardStep,
  phase: Phase,
  story: StoryState,
): Promise<StepResult & { endsPhase?: boolean }> {
  const task = taskOf(step, story.kit, story.run.primary.tools);
  const agent = agentFor(step, task, story);
  const bar = stepSkip(step, task, agent, story);
  if (bar !== undefined || agent === undefined) return skipped(step, phase, story, bar!);
  const own = ownTask(task);
  if (own !== undefined) {
    const outcome = await own(step, phase, story);
    return { ...(await ownStep(step, phase, story, outcome)), ...(outcome.endsPhase && { endsPhase: true }) };
  }
  const { args: given, unresolved, unfilled, problem: unmade } = await requestOf(step, task, agent, story);
  if (unfilled !== undefined) return skipped(step, phase, story, { reason: "fixture_unavailable", detail: unfilled });
  if (unresolved.length > 0) return unresolvedStep(step, phase, story, unresolved);
  if (unmade !== undefined)
    return { ...known(step, phase, story), task, status: "failed", problem: unmade, checks: [], tookMs: 0 };
  const args = step.expect_error === true ? given : currentPin(given, agent, story.run.release);
  const answers = await send(step, task, args, agent, story);
  const [answer] = answers;
  story.answers.set(step.id, answer!);
  const unknown = unknownScenario(step, task, args, answer);
  if (unknown !== undefined) return { ...skipped(step, phase, story, unknown), ...evidence(answer) };
  const { checks, problem } = await judge({ step, task, agent, story, args, answers }, undefined);
  const status = statusOf(problem, checks);
  const unfit = status === "failed" ? unfitRequest(task, args, story) : undefined;
  if (status === "passed" && answer?.payload) story.history.push({ step: step.id, task, payload: answer.payload });
  return {
    ...known(step, phase, story),
    task,
    status,
    checks,
    ...(problem !== undefined && { problem }),
    ...(unfit !== undefined && { unfit }),
    ...((step.validations ?? []).length === 0 && { unchecked: true as const }),
    ...evidence(answer),
    tookMs: answer?.tookMs ?? 0,
  };
}

function unfitRequest(task: string, args: JsonObject, { run }: StoryState): string | undefined {
  const first = run.schemas.request(task, args)?.[0];
  return first && `the storyboard's request is not valid by ${run.release.version}: ${first.pointer} ${first.message}`;
}

/** A placeholder that stands for nothing: the step that should have given the value was left out, or did not give it. */
function unresolvedStep(
  step: StoryboardStep,
  phase: Phase,
  story: StoryState,
  unresolved: readonly string[],
): StepResult {
  const names = unresolved.map((one) => one.replace("$context.", ""));
  const producers = story.storyboard.phases.flatMap(({ steps }) =>
    steps.filter((one) => {
      const task = taskOf(one, story.kit, story.run.primary.tools);
      return names.some((name) => provides(one, task, name));
    }),
  );
  const faults = faultsOf(story.run.release.version);
  const given = producers.flatMap(({ id }) => story.results.get(id) ?? []);
  const missed = given.find((one) => one.status === "skipped" || isAtFault(one, faults));
  if (missed !== undefined) {
    const why =
      missed.skip === undefined ? "takes it from where its own text has none" : `was skipped (${missed.skip.reason})`;
    return skipped(step, phase, story, {
      reason: "prerequisite_failed",
      detail: `${unresolved.join(", ")}: ${missed.step} ${why}`,
    });
  }
  return {
    ...known(step, phase, story),
    status: "failed",
    problem: `unresolved_substitution: no step has given ${unresolved.join(", ")}`,
    checks: [],
    tookMs: 0,
  };
}
