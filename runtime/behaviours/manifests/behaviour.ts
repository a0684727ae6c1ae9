import type { Behaviour } from "../frame/behaviour.js";
import { validateInput } from "./validate.js";

/** Whether a manifest is what a format asks for, before anything is built or kept. */
export const manifestsBehaviour: Behaviour = {
  area: "manifests",
  needs: ["formats"],
  tools: { validate_input: validateInput },
};
