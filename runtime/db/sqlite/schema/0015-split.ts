/** What each of several databases knows of the set it is in, and of the keyspaces it has, gets or had. */
export const split = `
create table adbind_splits (
  kind text not null primary key,
  own text not null,
  id text not null,
  version integer not null,
  members text not null
) strict;
create table adbind_keyspaces (
  kind text not null,
  name text not null,
  state text not null,
  peer text,
  token text,
  until integer,
  primary key (kind, name)
) strict, without rowid;
create index adbind_keyspaces_moves on adbind_keyspaces (kind, state, name) where state <> 'here';
create index adbind_registrations_sender on adbind_registrations (sender, route, operation_id);
`;
