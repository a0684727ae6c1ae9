/** Faults of published suites: steps that ask for what the published text rules out. They are run, and count as neither. */

import { eitherSteps, type FaultyStep, faultySteps } from "./faulty-steps.js";
import { isBroken, type StepResult, type StoryboardResult } from "./result.js";

/** Of one line the published texts say the same, and many a step goes through its suites unchanged. */
const lineOf = (release: string): string => release.split(".", 2).join(".");

/**
 * What may be at fault in the suite of a release: what was seen in it, and in others of its line, whose steps are known again by
 * their hashes. Whether one of those passes in this suite too nobody has looked at.
 */
export function faultsOf(release: string): readonly FaultyStep[] {
  const line = faultySteps.filter((one) => lineOf(one.release) === lineOf(release));
  const [own, others] = [
    line.filter((one) => one.release === release),
    line.filter((one) => one.release !== release).map((one) => ({ ...one, sometimes: true as const })),
  ];
  return [...own, ...others];
}

const isAbout = ({ storyboard, step, hash }: FaultyStep, result: StepResult): boolean =>
  storyboard === result.storyboard && step === result.step && hash === result.hash;

/** Whether the published text of a step takes a structured error as well as a success. */
export const takesError = (storyboard: string, step: string, hash: string): boolean =>
  eitherSteps.some((one) => one.storyboard === storyboard && one.step === step && one.hashes.includes(hash));

/** Whether a failure is of what is at fault, and of nothing else. */
const isOfFault = ({ problem, checks }: StepResult, fault: FaultyStep): boolean =>
  (fault.pointer === undefined && fault.check === undefined) ||
  (problem === undefined &&
    checks
      .filter(isBroken)
      .every(
        ({ check, pointer }) =>
          (fault.check === undefined || check === fault.check) &&
          (fault.pointer === undefined || pointer === fault.pointer),
      ));

function applied(result: StepResult, fault: FaultyStep | undefined): StepResult {
  if (fault === undefined) return result;
  if (result.status === "failed" && !isOfFault(result, fault)) return result;
  if (result.status === "failed") return { ...result, status: "faulty", fault: fault.contradicts };
  if (result.status !== "passed" || fault.sometimes) return result;
  // Whoever is asked has done all that the step wants. That the list may be wrong is for who keeps it: he sees the fault.
  return { ...result, fault: fault.contradicts };
}

/** Whether a step has failed by nothing but what is at fault in it. */
export const isAtFault = (result: StepResult, list: readonly FaultyStep[]): boolean =>
  list.some((one) => isAbout(one, result) && applied(result, one).status === "faulty");

/** Whether a step has done what it is for: one check of it is at fault, and it keeps all others. */
export const isDone = (result: StepResult, list: readonly FaultyStep[]): boolean =>
  isAtFault(
    result,
    list.filter(({ pointer, check }) => pointer !== undefined || check !== undefined),
  );

/** Marks the steps of a storyboard that are on the list. */
export function applyFaults(storyboard: StoryboardResult, list: readonly FaultyStep[]): StoryboardResult {
  if (!list.some((one) => one.storyboard === storyboard.id)) return storyboard;
  const steps = storyboard.steps.map((result) =>
    applied(
      result,
      list.find((one) => isAbout(one, result)),
    ),
  );
  const failed = steps.some(({ status }) => status === "failed");
  const verdict = storyboard.verdict === "failed" && !failed ? "passed" : failed ? "failed" : storyboard.verdict;
  return { ...storyboard, steps, verdict };
}
