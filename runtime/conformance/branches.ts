/** Failures in optional phases: they tell that a branch was not taken, and fail nothing by themselves. */
import type { Phase } from "./document.js";
import type { Skip, StepResult } from "./result.js";
import type { StoryState } from "./state.js";

/** Phases in which a failure counts all the same: metadata that is served has to be right. */
function isHard(phase: Phase, story: StoryState): boolean {
  return phase.steps.some(
    ({ id, task }) => task === "protected_resource_metadata" && story.results.get(id)?.response?.status === 200,
  );
}

function reasonOf(phase: Phase, result: StepResult, story: StoryState): Skip {
  const flag = phase.branch_set?.id ?? phase.steps.map(({ contributes_to: to }) => to).find((to) => to !== undefined);
  const by = flag === undefined ? undefined : story.flags.get(flag);
  if (by !== undefined)
    return { reason: "peer_branch_taken", detail: `${flag} contributed by ${by} — ${phase.id} is moot` };
  const failed = result.checks.find(({ outcome }) => outcome === "failed");
  const what = result.problem ?? failed?.note ?? failed?.description ?? "its checks do not hold";
  return { reason: "not_applicable", detail: `the phase ${phase.id} is optional, and did not hold: ${what}` };
}

/** Takes failures of optional phases as what they are. */
export function unfilledBranches(steps: readonly StepResult[], story: StoryState): StepResult[] {
  const phases = new Map(story.storyboard.phases.map((phase) => [phase.id, phase]));
  return steps.map((result) => {
    const phase = phases.get(result.phase);
    if (result.status !== "failed" || phase?.optional !== true || isHard(phase, story)) return result;
    return { ...result, status: "skipped", skip: reasonOf(phase, result, story) };
  });
}
