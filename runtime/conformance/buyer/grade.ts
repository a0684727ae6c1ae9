/** What was seen of a buyer against what the steps of a storyboard ask. */
import type { Phase, Storyboard, StoryboardCheck, StoryboardStep } from "../document.js";
import { type GradedCheck, isBroken, type Skip, type StepResult } from "../result.js";
import type { SchemaJudge } from "../schemas.js";
import { oneLine, stepHash } from "../step-words.js";
import { buyerCheck, holdsWithoutCall, isPoll } from "./checks.js";
import type { BuyerView, SeenCall, SeenPhase } from "./types.js";

/** The n-th step about a tool is about the n-th request for it. */
function callOf(step: StoryboardStep, phase: Phase, seen: SeenPhase): SeenCall | undefined {
  const same = (task: string): boolean => task === step.task || (isPoll(task) && isPoll(step.task));
  const calls = seen.calls.filter(({ tool }) => same(tool));
  const place = phase.steps.filter(({ task }) => same(task)).indexOf(step);
  return calls[place];
}

function graded(check: StoryboardCheck, view: BuyerView): GradedCheck {
  const { check: kind, description, severity } = check;
  const judge = buyerCheck(kind);
  const finding =
    judge === undefined
      ? { outcome: "not_graded" as const, note: `this runner does not know checks of the kind ${kind}` }
      : judge(check, view);
  return {
    check: kind,
    ...(description !== undefined && { description: oneLine(description) }),
    ...(severity === "advisory" && { advisory: true as const }),
    ...finding,
  };
}

function evidence(call: SeenCall | undefined): Pick<StepResult, "request" | "response"> {
  if (call === undefined) return {};
  const { tool, url, args, answer, scenario } = call;
  const status = scenario?.http_status;
  return {
    request: { transport: "mcp", operation: tool, url, payload: args },
    response: {
      ...(status !== undefined && answer !== undefined && { status }),
      headers: {},
      payload: answer ?? "no answer: the connection was closed after the order was taken",
      origin: "structured_content",
    },
  };
}

/** Whether a step is about a call that has to be there. */
const wantsCall = (checks: readonly StoryboardCheck[]): boolean =>
  checks.length === 0 || !checks.every(({ check }) => holdsWithoutCall.has(check));

export interface BuyerGrading {
  readonly storyboard: Storyboard;
  readonly phase: Phase;
  readonly seen: SeenPhase;
  readonly schemas: SchemaJudge;
  /** The phase was not played. */
  readonly skip?: Skip;
  readonly deadlineMs: number;
}

export function gradeBuyerStep(step: StoryboardStep, grading: BuyerGrading): StepResult {
  const { storyboard, phase, seen, schemas, skip } = grading;
  const known = {
    storyboard: storyboard.id,
    phase: phase.id,
    step: step.id,
    title: oneLine(step.title ?? step.id),
    task: step.task,
    required: oneLine(step.expected ?? step.narrative ?? step.title),
    hash: stepHash(step),
  };
  if (skip !== undefined) return { ...known, status: "skipped", skip, checks: [], tookMs: 0 };
  const call = callOf(step, phase, seen);
  const asked = step.validations ?? [];
  const checks = asked.map((check) => graded(check, { step, seen, call, schemas }));
  const problem =
    call === undefined && wantsCall(asked)
      ? `the buyer did not call ${step.task}${seen.broken === undefined ? "" : `: ${seen.broken}`}`
      : undefined;
  const failed = problem !== undefined || checks.some(isBroken);
  const ungraded = checks.some(({ outcome, advisory }) => outcome === "not_graded" && advisory !== true);
  return {
    ...known,
    status: failed ? "failed" : ungraded ? "not_graded" : "passed",
    checks,
    ...(problem !== undefined && { problem }),
    ...(asked.length === 0 && { unchecked: true as const }),
    ...evidence(call),
    tookMs: 0,
  };
}
