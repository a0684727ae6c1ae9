/** When an authorization begins or ceases to be in effect. */
import type { Migration } from "./migration.js";

// What an edge covers is worked out when it is written; from `changes_at` on that holds no longer. Few edges have one, and
// the index holds those alone. Edges that were there before are looked at once: the time is in their entries.
const sqlite = `
alter table adbind_registry_authorizations add column changes_at integer;
update adbind_registry_authorizations set changes_at = 0 where entries like '%"effective%';
create index adbind_registry_authorizations_changes on adbind_registry_authorizations (changes_at)
  where changes_at is not null;
`;

const postgres = sqlite.replace("changes_at integer", "changes_at bigint");

export const registryEffect: Migration = { version: 9, name: "registry-effect", sqlite, postgres };
