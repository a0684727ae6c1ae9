/** How writers of a registry do without meeting on one row. */
export const registryChanges = `
-- Transactions take turns here: changes are numbered by the clock's row as before, and counts have one row each.
create table adbind_registry_tallies (
  kind text not null,
  name text not null,
  shard integer not null,
  count integer not null,
  primary key (kind, name, shard)
) strict, without rowid;
`;
