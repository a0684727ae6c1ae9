/** Everything a receiver remembers: claims, inbox, task order, registrations, notifications, nonces. */
export const receiver = `
-- claims is clustered by (sender, key) with a 16-byte key, and its only other index grows at its right edge: an insert
-- touches one random page however many rows are live. due beyond every clock marks an event behind another of its task.
create table adbind_senders (
  id integer primary key,
  url text not null unique,
  live integer not null default 0
) strict;

create table adbind_claims (
  sender integer not null,
  key blob not null,
  digest blob not null,
  expires integer not null,
  primary key (sender, key)
) strict, without rowid;
create index adbind_claims_expires on adbind_claims (expires);

create table adbind_clock (
  id integer primary key,
  mark integer not null,
  lag integer not null,
  until integer not null
) strict;

create table adbind_tasks (
  sender integer not null,
  task_id text not null,
  instant text not null,
  status text not null,
  terminal integer not null,
  missed integer,
  expires integer not null,
  primary key (sender, task_id)
) strict, without rowid;
create index adbind_tasks_expires on adbind_tasks (expires);

create table adbind_notifications (
  sender integer not null,
  notification_id text not null,
  expires integer not null,
  primary key (sender, notification_id)
) strict, without rowid;
create index adbind_notifications_expires on adbind_notifications (expires);

create table adbind_inbox (
  id integer primary key autoincrement,
  state text not null,
  sender integer not null,
  key text not null,
  route text not null,
  kind text not null,
  release text not null,
  format text,
  task_type text,
  task_id text,
  operation_id text,
  status text,
  instant text,
  notification_id text,
  reemission integer not null,
  received_at integer not null,
  attempts integer not null default 0,
  due integer not null,
  owner text,
  error text,
  notes text not null,
  traceparent text,
  token_digest blob,
  ordering_key text,
  body blob not null
) strict;
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
  token_digest blob,
  release text,
  events text,
  expires integer,
  primary key (route, operation_id)
) strict, without rowid;
create index adbind_registrations_expires on adbind_registrations (expires) where expires is not null;

create table adbind_nonce_keys (
  id integer primary key,
  keyid text not null unique,
  live integer not null default 0
) strict;
insert into adbind_nonce_keys (id, keyid) values (0, '');

create table adbind_nonces (
  key integer not null,
  nonce text not null,
  expires integer not null,
  primary key (key, nonce)
) strict, without rowid;
create index adbind_nonces_expires on adbind_nonces (expires);
`;
