/** What each of several databases knows of the set it is in, and of the keyspaces it has, gets or had. */
export const split = `
create table adbind_splits (
  kind text not null primary key,
  own text not null,
  id text not null,
  version bigint not null,
  members text not null
);
create table adbind_keyspaces (
  kind text not null,
  name text collate "C" not null,
  state text not null,
  peer text,
  token text,
  until bigint,
  primary key (kind, name)
);
create index adbind_keyspaces_moves on adbind_keyspaces (kind, state, name) where state <> 'here';
create index adbind_registrations_sender on adbind_registrations (sender, route, operation_id);
`;
