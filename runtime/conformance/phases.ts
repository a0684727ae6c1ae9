/** Which phases of a storyboard are about an agent, and what they use of what was captured. */
import type { Phase, StoryboardStep } from "./document.js";
import { capabilitySkip, skipIf } from "./gates.js";
import type { Skip } from "./result.js";
import type { StoryState } from "./state.js";

/** Why a phase is left out; undefined where it is run. */
export function phaseSkip(phase: Phase, story: StoryState): Skip | undefined {
  if (phase.requires_capability !== undefined) {
    const skip = capabilitySkip(phase.requires_capability, story.run.gates);
    if (skip !== undefined) return skip;
  }
  if (phase.skip_if !== undefined && skipIf(phase.skip_if, story.kit, story.context))
    return { reason: "not_applicable", detail: `the phase is left out where ${phase.skip_if}` };
  return undefined;
}

const mentions = (value: unknown, name: string): boolean => {
  const text = JSON.stringify(value);
  return [`$context.${name}"`, `$context.${name}.`, `$context.${name}[`, `"context_key":"${name}"`].some((one) =>
    text.includes(one),
  );
};

/**
 * Whether what a step was to capture is needed: not where every phase that uses it is left out by a condition of its own.
 * A name that nothing uses is needed all the same: it is what the step promises.
 */
export function isNameUsed(name: string, step: StoryboardStep, story: StoryState): boolean {
  const later = story.storyboard.phases.filter(
    (phase) => !phase.steps.includes(step) && phase.steps.some((one) => mentions(one, name)),
  );
  const own = story.storyboard.phases.find((phase) => phase.steps.includes(step));
  if (own?.steps.some((one) => one !== step && mentions(one, name))) return true;
  const conditions = story.storyboard.phases.some(({ skip_if: text }) => text?.includes(`context.${name}`));
  if (later.length === 0) return !conditions;
  return later.some((phase) => phaseSkip(phase, story) === undefined);
}
