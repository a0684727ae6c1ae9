/** Faults of published suites: steps that ask for what the published text rules out. They are run, and count as neither. */

import { eitherSteps, type FaultyStep, faultySteps } from "./faulty-steps.js";
import { isBroken, type StepResult, type StoryboardResult } from "./result.js";

export const faultsOf = (release: string): readonly FaultyStep[] =>
  faultySteps.filter((one) => one.release === release);

/** Whether the published text of a step takes a structured error as well as a success. */
export const takesError = (storyboard: string, step: string, hash: string): boolean =>
  eitherSteps.some((one) => one.storyboard === storyboard && one.step === step && one.hashes.includes(hash));

/** Whether a failure is of what is at fault, and of nothing else. */
const isOfFault = ({ problem, checks }: StepResult, { pointer }: FaultyStep): boolean =>
  pointer === undefined ||
  (problem === undefined && checks.filter(isBroken).every((check) => check.pointer === pointer));

function applied(result: StepResult, fault: FaultyStep | undefined): StepResult {
  if (fault === undefined || fault.hash !== result.hash) return result;
  if (result.status === "failed" && !isOfFault(result, fault)) return result;
  if (result.status === "failed") return { ...result, status: "faulty", fault: fault.contradicts };
  if (result.status !== "passed" || fault.sometimes) return result;
  // An entry that has become wrong would hide the next failure.
  const problem = "the step is on the list of faulty ones and passes: take it off the list";
  return { ...result, status: "failed", problem, fault: fault.contradicts };
}

/** Whether a step has done what it is for: one check of it is at fault, and it keeps all others. */
export function isDone(result: StepResult, list: readonly FaultyStep[]): boolean {
  const fault = list.find(
    ({ storyboard, step, pointer }) =>
      storyboard === result.storyboard && step === result.step && pointer !== undefined,
  );
  return applied(result, fault).status === "faulty";
}

/** Marks the steps of a storyboard that are on the list. */
export function applyFaults(storyboard: StoryboardResult, list: readonly FaultyStep[]): StoryboardResult {
  const own = list.filter((one) => one.storyboard === storyboard.id);
  if (own.length === 0) return storyboard;
  const steps = storyboard.steps.map((step) =>
    applied(
      step,
      own.find((one) => one.step === step.step),
    ),
  );
  const failed = steps.some(({ status }) => status === "failed");
  const verdict = storyboard.verdict === "failed" && !failed ? "passed" : failed ? "failed" : storyboard.verdict;
  return { ...storyboard, steps, verdict };
}
