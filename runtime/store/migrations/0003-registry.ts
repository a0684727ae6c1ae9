/** What a registry knows: publishers, properties, agents, authorizations, profiles. */
import type { Migration } from "./migration.js";

const sqlite = "select 1;";

const postgres = "select 1;";

export const registry: Migration = { version: 3, name: "registry", sqlite, postgres };
