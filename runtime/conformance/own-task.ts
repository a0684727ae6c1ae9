/** Steps that the runner does itself: their shape. */
import type { AgentAnswer } from "./agent/types.js";
import type { Phase, StoryboardStep } from "./document.js";
import type { GradedCheck, Skip } from "./result.js";
import type { StoryState } from "./state.js";

/** What came of such a step. */
export interface OwnOutcome {
  readonly skip?: Skip;
  readonly answer?: AgentAnswer;
  /** Found apart from the step's own validations. */
  readonly checks?: readonly GradedCheck[];
  readonly problem?: string;
  /** The runner cannot look at this yet. */
  readonly notGraded?: string;
  /** The rest of the phase is not about this agent. */
  readonly endsPhase?: boolean;
}

export type OwnTask = (step: StoryboardStep, phase: Phase, story: StoryState) => OwnOutcome | Promise<OwnOutcome>;
