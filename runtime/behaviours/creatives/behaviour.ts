import type { Behaviour } from "../frame/behaviour.js";
import { listLibrary } from "./list.js";
import { creativeScenarios } from "./scenarios.js";
import { syncCreatives } from "./sync.js";

/** The creative library. */
export const creativesBehaviour: Behaviour = {
  area: "creatives",
  // Whose creatives they are; and who is told of them is said with the account. What is taken can be looked at.
  needs: ["formats", "accounts", "provenance", "previews"],
  tools: { list_creatives: listLibrary, sync_creatives: syncCreatives },
  capabilities: () => ({
    creative: { has_creative_library: true, localization: { locale_matching: "rfc4647_lookup" } },
  }),
  scenarios: creativeScenarios,
};
