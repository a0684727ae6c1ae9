/** Who may use a registry: organizations, users, keys, the embedded issuer's state, rate counters. */
export const registryAccess = `
-- Keys and passwords are kept as digests only. What the embedded issuer writes is looked up by model and id, by grant
-- when a grant is revoked, and by uid when a browser session is; the rest of it is opaque.
-- A counter lost in a crash only lets somebody ask once more: no log is written for them.
create table adbind_organizations (
  id text primary key,
  name text not null,
  tier text,
  subscription text not null,
  suspended integer not null default 0,
  created bigint not null
);

create table adbind_users (
  id text primary key,
  email text not null unique,
  name text not null,
  password text not null,
  organization text,
  suspended integer not null default 0,
  created bigint not null
);

create table adbind_api_keys (
  id text primary key,
  organization text not null,
  name text not null,
  hash text not null unique,
  shown text not null,
  created bigint not null,
  last_used bigint,
  suspended integer not null default 0,
  revoked bigint
);

create table adbind_issuer_state (
  model text not null,
  id text not null,
  payload text not null,
  grant_id text,
  uid text,
  consumed bigint,
  expires bigint,
  primary key (model, id)
);
create index adbind_issuer_state_grant on adbind_issuer_state (grant_id) where grant_id is not null;
create index adbind_issuer_state_uid on adbind_issuer_state (model, uid) where uid is not null;
create index adbind_issuer_state_expires on adbind_issuer_state (expires) where expires is not null;

create table adbind_secrets (
  name text primary key,
  value text not null,
  created bigint not null
);

create unlogged table adbind_rates (
  key text primary key,
  count integer not null,
  resets bigint not null
) with (fillfactor = 50);
create index adbind_rates_resets on adbind_rates (resets);
`;
