import type { Behaviour } from "../frame/behaviour.js";
import { listLibrary } from "./list.js";
import { creativeScenarios } from "./scenarios.js";
import { syncCreatives } from "./sync.js";

/** The creative library. */
export const creativesBehaviour: Behaviour = {
  area: "creatives",
  needs: ["formats", "provenance"],
  tools: { list_creatives: listLibrary, sync_creatives: syncCreatives },
  scenarios: creativeScenarios,
};
