/** What a registry knows: publishers, properties, agents, authorizations, profiles. */
export const registry = `
-- A publisher's properties and authorizations are replaced as a set, by source; digest of a set says that it is as it
-- was. summary is what all properties of a publisher add to a profile, coverage what the covered ones add, so that an
-- agent's profile is made without reading properties. Every transaction moves the clock on, last of all: instances see by
-- it that something changed, and profiles that changed carry its value in the order of the commits. A move says which
-- score an agent had before it changed (null: it was not there), so that a traversal begun earlier keeps its order.
-- From changes_at on what an edge covers holds no longer; few edges have one. The index of stale publishers is of those
-- alone whose last fetch came to nothing.
create table adbind_registry_clock (
  id integer primary key check (id = 1),
  seq integer not null,
  pruned integer not null
) strict;
insert into adbind_registry_clock (id, seq, pruned) values (1, 0, 0);

create table adbind_registry_counts (
  kind text not null,
  name text not null,
  count integer not null,
  primary key (kind, name)
) strict, without rowid;

create table adbind_registry_publishers (
  id integer primary key,
  domain text not null unique,
  valid integer,
  outcome text,
  method text,
  manager_domain text,
  crawled_at integer,
  validated_at integer,
  http_status integer,
  bytes integer,
  resolved_url text,
  problems text,
  brand_outcome text,
  brand_name text,
  brand_agents text,
  genres text,
  taxonomy text,
  property_count integer not null default 0,
  summary text,
  digests text
) strict;
create index adbind_registry_publishers_crawled on adbind_registry_publishers (crawled_at, domain);
create index adbind_registry_publishers_new on adbind_registry_publishers (domain) where crawled_at is null and valid = 1;
create index adbind_registry_publishers_stale on adbind_registry_publishers (validated_at)
  where valid = 1 and crawled_at > validated_at;

create table adbind_registry_properties (
  publisher integer not null,
  source text not null,
  key text not null,
  position integer not null,
  slug text,
  type text not null,
  name text not null,
  identifiers text not null,
  tags text not null,
  channels text,
  delegation text,
  primary key (publisher, source, key)
) strict, without rowid;

create table adbind_registry_identifiers (
  value text not null,
  type text not null,
  publisher integer not null,
  source text not null,
  key text not null,
  primary key (value, type, publisher, source, key)
) strict, without rowid;

create table adbind_registry_agents (
  id integer primary key,
  url text not null unique,
  member integer,
  name text,
  type text not null default 'unknown',
  visibility text,
  delivery_types text,
  format_kinds text,
  has_tmp integer not null default 0
) strict;
create index adbind_registry_agents_member on adbind_registry_agents (member) where member is not null;

create table adbind_registry_authorizations (
  publisher integer not null,
  source text not null,
  agent integer not null,
  claimant text not null,
  position integer not null,
  authorized_for text,
  entries text not null,
  countries text,
  wide integer not null,
  covered integer not null,
  coverage text,
  changes_at integer,
  primary key (publisher, source, agent, claimant)
) strict, without rowid;
create index adbind_registry_authorizations_changes on adbind_registry_authorizations (changes_at)
  where changes_at is not null;
create index adbind_registry_authorizations_agent on adbind_registry_authorizations (agent, publisher);
create index adbind_registry_authorizations_claimant on adbind_registry_authorizations (claimant) where claimant <> '';

create table adbind_registry_members (
  id integer primary key,
  slug text not null unique,
  organization text unique,
  display_name text not null,
  tier text,
  founding integer not null,
  is_public integer not null
) strict;

create table adbind_registry_member_domains (
  domain text not null,
  member integer not null,
  verified integer not null,
  primary key (domain, member)
) strict, without rowid;
create index adbind_registry_member_domains_member on adbind_registry_member_domains (member);

create table adbind_registry_hosted (
  domain text primary key,
  file text not null,
  updated_at integer not null,
  origin_verified_at integer,
  origin_checked_at integer
) strict, without rowid;
create index adbind_registry_hosted_checked on adbind_registry_hosted (origin_checked_at);

create table adbind_registry_profiles (
  agent integer primary key,
  url text not null,
  registered integer not null,
  score real not null,
  property_count integer not null,
  publisher_count integer not null,
  has_tmp integer not null,
  taxonomy text,
  lists text not null,
  updated_at integer not null,
  born integer not null,
  version integer not null,
  gone integer not null default 0
) strict;
create index adbind_registry_profiles_version on adbind_registry_profiles (version);

create table adbind_registry_moves (
  version integer not null,
  agent integer not null,
  before real not null,
  born integer not null,
  at integer not null,
  primary key (version, agent)
) strict, without rowid;

create table adbind_registry_dirty (
  agent integer primary key
) strict;

create table adbind_registry_imports (
  id text primary key,
  lines integer not null,
  done integer not null,
  updated_at integer not null
) strict, without rowid;
`;
