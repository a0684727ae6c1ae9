/** Steps that a suite leaves to the runner: one for each vector of request signing. */
import type { StepResult } from "./result.js";
import type { StoryState } from "./state.js";

/** None yet. */
export const vectorSteps = async (_story: StoryState): Promise<StepResult[]> => [];
