/** How writers of a registry do without meeting on one row. */
export const registryChanges = `
-- Changes are numbered by a sequence: runtime/store/registry-clock.ts says how readers miss none. An instance of before, which
-- counts in the clock's row, is refused there instead of giving a number twice. Counts are kept in some rows each, of which a
-- transaction takes one; what was counted before stays where it is.
create sequence adbind_registry_changes;
select setval('adbind_registry_changes', (select seq + 1 from adbind_registry_clock where id = 1));
update adbind_registry_clock set seq = 0 where id = 1;
alter table adbind_registry_clock add constraint adbind_registry_clock_unused check (seq = 0);
create table adbind_registry_tallies (
  kind text not null,
  name text not null,
  shard integer not null,
  count bigint not null,
  primary key (kind, name, shard)
) with (fillfactor = 50);
`;
