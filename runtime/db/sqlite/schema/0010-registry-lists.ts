/** What a registry's lists, answers of agents and brands, and the owners' wishes need. */
export const registryLists = `
-- type_counts are a profile's properties by type, as JSON. Agents that everybody may see are found by their URLs, those of
-- members by their type too. What publishers say of an agent is found apart from what anybody claims. Counts of agents and domains are kept, not counted when somebody asks.
-- A brand file is kept as it came, and found by the words of its names. A probe is what an agent said when it was asked
-- last; owner is the registrable domain it is under, of whose agents only so many are asked. An opt-out is an owner's wish
-- that nothing is fetched or told of a domain and what is under it.
alter table adbind_registry_profiles add column type_counts text;
create index adbind_registry_agents_shown on adbind_registry_agents (url) where member is not null and visibility = 'public';
create index adbind_registry_agents_typed on adbind_registry_agents (type, url)
  where member is not null and visibility = 'public';
create index adbind_registry_profiles_found on adbind_registry_profiles (url) where gone = 0 and registered = 0;
create index adbind_registry_authorizations_said on adbind_registry_authorizations (agent, publisher)
  where source <> 'agent_claim';
insert into adbind_registry_counts (kind, name, count)
  select 'agents', 'discovered', count(*) from adbind_registry_profiles where gone = 0 and registered = 0;
insert into adbind_registry_counts (kind, name, count)
  select 'agents', 'registered', count(*) from adbind_registry_agents where member is not null;
insert into adbind_registry_counts (kind, name, count)
  select 'domains', 'verified', count(*) from adbind_registry_member_domains where verified = 1;
insert into adbind_registry_counts (kind, name, count)
  select 'brands', 'known', count(*) from adbind_registry_publishers where brand_key is not null;

create table adbind_registry_brand_files (
  publisher integer primary key,
  url text not null,
  variant text not null,
  file text not null,
  digest text not null,
  fetched_at integer not null
) strict;
create table adbind_registry_brand_words (
  word text not null,
  publisher integer not null,
  primary key (word, publisher)
) strict, without rowid;
create index adbind_registry_brand_words_publisher on adbind_registry_brand_words (publisher);

create table adbind_registry_probes (
  agent integer primary key,
  owner text not null,
  online integer,
  probed_at integer,
  response_ms integer,
  last_seen integer,
  transport text,
  tools text,
  tools_count integer,
  capabilities text,
  error text,
  misses integer not null,
  next_at integer not null
) strict;
create index adbind_registry_probes_next on adbind_registry_probes (next_at);
create index adbind_registry_probes_owner on adbind_registry_probes (owner);

create table adbind_crawl_opt_outs (
  domain text primary key,
  since integer not null,
  source text not null
) strict, without rowid;
`;
