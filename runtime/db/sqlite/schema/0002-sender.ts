/** What a sender remembers: jobs, how their groups fare, tasks, persistent channels, what was sent. */
export const sender = `
-- An endpoint's row says when something of it may be due, so that taking looks at endpoints and never through one's backlog.
-- due of a leased job is the end of its lease; beyond every clock it waits for another under its ordering key.
create table adbind_jobs (
  id integer primary key autoincrement,
  topic text not null,
  key text not null,
  random integer not null,
  endpoint text not null,
  ordering_key text,
  state text not null,
  due integer not null,
  attempts integer not null default 0,
  created_at integer not null,
  first_at integer,
  started_at integer,
  token text,
  error text,
  body_at integer not null
) strict;
create unique index adbind_jobs_key on adbind_jobs (topic, key) where random = 0;
create index adbind_jobs_due on adbind_jobs (topic, endpoint, due) where state = 'ready';
create index adbind_jobs_order on adbind_jobs (topic, ordering_key, id)
  where state = 'ready' and ordering_key is not null and attempts = 0;
create index adbind_jobs_kept on adbind_jobs (topic, id) where state <> 'ready';
create index adbind_jobs_kept_endpoint on adbind_jobs (topic, endpoint, id) where state <> 'ready';
create index adbind_jobs_kept_since on adbind_jobs (topic, created_at) where state <> 'ready';

-- What is sent, apart from what is leased: written once.
create table adbind_job_bodies (
  job integer primary key,
  at integer not null,
  meta text not null,
  body blob not null
) strict;

create table adbind_endpoints (
  topic text not null,
  endpoint text not null,
  ready_at integer not null,
  paused_until integer not null default 0,
  failing_since integer,
  stopped_at integer,
  primary key (topic, endpoint)
) strict, without rowid;
create index adbind_endpoints_ready on adbind_endpoints (topic, ready_at);

-- An event under a dedup key is made once: again with the same content is the same event.
create table adbind_dedup (
  task_id text not null,
  dedup_key text not null,
  digest text not null,
  keys text not null,
  expires integer not null,
  primary key (task_id, dedup_key)
) strict, without rowid;
create index adbind_dedup_expires on adbind_dedup (expires);

create table adbind_sent_tasks (
  task_id text primary key,
  principal text not null,
  tool text not null,
  status text not null,
  instant text not null,
  details text not null,
  expires integer not null,
  -- Random, another one after each change.
  revision integer not null default 0
) strict, without rowid;
create index adbind_sent_tasks_expires on adbind_sent_tasks (expires);

-- A media buy belongs to the principal of its row of kind buy, and its channels have no subscriber; of lists, artifacts and
-- rights each principal is a subscriber.
create table adbind_channels (
  resource text not null,
  kind text not null,
  subscriber text not null,
  principal text not null,
  config text not null,
  sequence integer not null default 0,
  period_start integer,
  next_fire integer,
  closed integer not null default 0,
  closed_at integer,
  release text,
  primary key (resource, kind, subscriber)
) strict, without rowid;
create index adbind_channels_closed on adbind_channels (closed_at) where closed_at is not null;
create index adbind_channels_fire on adbind_channels (next_fire) where next_fire is not null;

-- Secrets of registrations, sealed: whose they are, under which key; gone when what they are for is over.
create table adbind_sender_secrets (
  registration text primary key,
  principal text not null,
  key_id text not null,
  box text not null,
  endpoint text not null,
  ordering_key text not null,
  check_at integer not null
) strict, without rowid;
create index adbind_sender_secrets_check on adbind_sender_secrets (check_at);

-- Changes in one slot of a resource become one event.
create table adbind_coalescing (
  resource text not null,
  slot text not null,
  notification_id text not null,
  event_type text not null,
  payload text not null,
  due integer not null,
  primary key (resource, slot)
) strict, without rowid;
create index adbind_coalescing_due on adbind_coalescing (due);

create table adbind_activity (
  id integer primary key autoincrement,
  principal text not null,
  subject text not null,
  record text not null,
  expires integer not null
) strict;
create index adbind_activity_subject on adbind_activity (principal, subject, id);
create index adbind_activity_expires on adbind_activity (expires);
`;
