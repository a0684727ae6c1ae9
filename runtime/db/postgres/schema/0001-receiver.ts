/** Everything a receiver remembers: claims, inbox, task order, registrations, notifications, nonces. */
export const receiver = `
-- due beyond every clock marks an event behind another of its task.
-- Counters are split over shards where a cap is large: instances that accept for one sender then seldom wait for each
-- other's commit. Instants compare as bytes, whatever the database's collation.
create table adbind_senders (
  id bigint generated always as identity primary key,
  url text not null unique
);

create table adbind_sender_usage (
  sender bigint not null,
  shard integer not null,
  live bigint not null default 0,
  primary key (sender, shard)
) with (fillfactor = 50);

create table adbind_claims (
  sender bigint not null,
  key bytea not null,
  digest bytea not null,
  expires bigint not null,
  primary key (sender, key)
);
create index adbind_claims_expires on adbind_claims (expires);

create table adbind_clock (
  id bigint primary key,
  mark bigint not null,
  lag bigint not null,
  until bigint not null
);

create table adbind_tasks (
  sender bigint not null,
  task_id text not null,
  instant text collate "C" not null,
  status text not null,
  terminal boolean not null,
  missed bigint,
  expires bigint not null,
  primary key (sender, task_id)
);
create index adbind_tasks_expires on adbind_tasks (expires);

create table adbind_notifications (
  sender bigint not null,
  notification_id text not null,
  expires bigint not null,
  primary key (sender, notification_id)
);
create index adbind_notifications_expires on adbind_notifications (expires);

create table adbind_inbox (
  id bigint generated always as identity primary key,
  state text not null,
  sender bigint not null,
  key text not null,
  route text not null,
  kind text not null,
  release text not null,
  format text,
  task_type text,
  task_id text,
  operation_id text,
  status text,
  instant text collate "C",
  notification_id text,
  reemission boolean not null,
  received_at bigint not null,
  attempts integer not null default 0,
  due bigint not null,
  owner text,
  error text,
  notes text not null,
  traceparent text,
  token_digest bytea,
  ordering_key text,
  body bytea not null
);
create index adbind_inbox_due on adbind_inbox (due) where state = 'pending';
create index adbind_inbox_ordering_key on adbind_inbox (sender, ordering_key, id) where state = 'pending' and ordering_key is not null;
create index adbind_inbox_parked on adbind_inbox (route, operation_id) where state = 'parked';
create index adbind_inbox_parked_due on adbind_inbox (due) where state = 'parked';
create index adbind_inbox_dead on adbind_inbox (id) where state = 'dead';

create table adbind_registrations (
  route text not null,
  operation_id text not null,
  sender text not null,
  kind text not null,
  mode text not null,
  format text,
  task_type text,
  token_digest bytea,
  release text,
  events text,
  expires bigint,
  primary key (route, operation_id)
);
create index adbind_registrations_expires on adbind_registrations (expires) where expires is not null;

create table adbind_nonce_keys (
  id bigint generated always as identity primary key,
  keyid text not null unique
);

create table adbind_nonce_usage (
  key bigint not null,
  shard integer not null,
  live bigint not null default 0,
  primary key (key, shard)
) with (fillfactor = 50);

create table adbind_nonces (
  key bigint not null,
  nonce text not null,
  expires bigint not null,
  primary key (key, nonce)
);
create index adbind_nonces_expires on adbind_nonces (expires);
`;
