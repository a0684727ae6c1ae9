/** The list of faulty published steps. Data only. */
import type { FaultyStep } from "./faulty.js";

export const faultySteps: readonly FaultyStep[] = [];
