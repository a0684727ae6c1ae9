/** What a registry's crawler remembers of the file it keeps of a domain. */
import type { Migration } from "./migration.js";

// One row a domain whose file was taken: where it came from and the latest time it gave for itself, which a later one
// must not go behind; and where the domain has begun to point since, which is not followed before it has stayed. The
// index is of publishers alone whose last fetch came to nothing: what such a one said ends some days after the last
// that did, and they are few.
const sqlite = `
create table adbind_crawl_files (
  domain text primary key,
  source text not null,
  pointed integer not null,
  last_updated integer,
  candidate text,
  candidate_since integer
) strict, without rowid;
create index adbind_registry_publishers_stale on adbind_registry_publishers (validated_at)
  where valid = 1 and crawled_at > validated_at;
`;

const postgres = `
create table adbind_crawl_files (
  domain text collate "C" primary key,
  source text not null,
  pointed integer not null,
  last_updated bigint,
  candidate text,
  candidate_since bigint
);
create index adbind_registry_publishers_stale on adbind_registry_publishers (validated_at)
  where valid = 1 and crawled_at > validated_at;
`;

export const registryCrawlFiles: Migration = { version: 8, name: "registry-crawl-files", sqlite, postgres };
