/** How writers of a registry do without meeting on one row. */
export const registryChanges = `
-- Changes are numbered by a sequence: runtime/store/registry-clock.ts says how readers miss none. An instance of before, which
-- counts in the clock's row, is refused there instead of giving a number twice. What each transaction
-- adds to counts are rows of its own, added up in shard 0 now and then; what was counted before stays where it is.
create sequence adbind_registry_changes;
select setval('adbind_registry_changes', (select seq + 1 from adbind_registry_clock where id = 1));
update adbind_registry_clock set seq = 0 where id = 1;
alter table adbind_registry_clock add constraint adbind_registry_clock_unused check (seq = 0);
create table adbind_registry_tallies (
  kind text not null,
  name text not null,
  shard bigint not null,
  count bigint not null,
  primary key (kind, name, shard)
) with (fillfactor = 50);

-- The search's index where searches are answered here (\`--search postgres\`): kept from when searched is not 0. settled is the
-- mark as copies of this database have it.
alter table adbind_registry_clock add column searched integer not null default 0;
alter table adbind_registry_clock add column settled bigint not null default 0;
create table adbind_registry_search (
  agent bigint not null,
  url text collate "C" not null,
  registered bigint not null,
  score double precision not null,
  property_count bigint not null,
  has_tmp bigint not null,
  born bigint not null,
  version bigint not null,
  gone bigint not null,
  tokens text[] not null,
  primary key (agent)
) partition by hash (agent);
create table adbind_registry_search_0 partition of adbind_registry_search for values with (modulus 8, remainder 0);
create table adbind_registry_search_1 partition of adbind_registry_search for values with (modulus 8, remainder 1);
create table adbind_registry_search_2 partition of adbind_registry_search for values with (modulus 8, remainder 2);
create table adbind_registry_search_3 partition of adbind_registry_search for values with (modulus 8, remainder 3);
create table adbind_registry_search_4 partition of adbind_registry_search for values with (modulus 8, remainder 4);
create table adbind_registry_search_5 partition of adbind_registry_search for values with (modulus 8, remainder 5);
create table adbind_registry_search_6 partition of adbind_registry_search for values with (modulus 8, remainder 6);
create table adbind_registry_search_7 partition of adbind_registry_search for values with (modulus 8, remainder 7);
create index adbind_registry_search_order on adbind_registry_search (score desc, url) where gone = 0;
create index adbind_registry_search_tokens on adbind_registry_search using gin (tokens);
`;
