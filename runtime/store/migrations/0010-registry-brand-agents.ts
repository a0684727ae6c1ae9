/** The agents that a publisher's brand file names. */
import type { Migration } from "./migration.js";

// JSON, as the lookup tells it: nothing is looked up by them, for a brand file authorizes nobody.
const both = "alter table adbind_registry_publishers add column brand_agents text;\n";

export const registryBrandAgents: Migration = {
  version: 10,
  name: "registry-brand-agents",
  sqlite: both,
  postgres: both,
};
