/** What a sender remembers: jobs, how their groups fare, tasks, persistent channels, what was sent. */
export const sender = `
-- A group's row says when something of it may be due, so that taking looks at groups and never through one's backlog.
-- due of a job that is out is the end of its lease; beyond every clock it waits for another of its lane.
create table adbind_jobs (
  id integer primary key autoincrement,
  topic text not null,
  key text not null,
  random integer not null,
  grp text not null,
  lane text,
  state text not null,
  due integer not null,
  attempts integer not null default 0,
  created_at integer not null,
  first_at integer,
  started_at integer,
  claim text,
  error text,
  meta text not null,
  body blob not null
) strict;
create unique index adbind_jobs_key on adbind_jobs (topic, key) where random = 0;
create index adbind_jobs_due on adbind_jobs (topic, grp, due) where state = 'ready';
create index adbind_jobs_lane on adbind_jobs (topic, lane, id) where state = 'ready' and lane is not null and attempts = 0;
create index adbind_jobs_dead on adbind_jobs (topic, id) where state = 'dead';

create table adbind_groups (
  topic text not null,
  grp text not null,
  ready_at integer not null,
  paused_until integer not null default 0,
  failing_since integer,
  primary key (topic, grp)
) strict, without rowid;
create index adbind_groups_ready on adbind_groups (topic, ready_at);

create table adbind_sent_tasks (
  task_id text primary key,
  principal text not null,
  tool text not null,
  status text not null,
  instant text not null,
  details text not null,
  expires integer not null
) strict, without rowid;
create index adbind_sent_tasks_expires on adbind_sent_tasks (expires);

create table adbind_channels (
  resource text not null,
  kind text not null,
  principal text not null,
  config text not null,
  sequence integer not null default 0,
  period_start integer,
  next_fire integer,
  closed integer not null default 0,
  primary key (resource, kind)
) strict, without rowid;
create index adbind_channels_fire on adbind_channels (next_fire) where next_fire is not null;

create table adbind_coalescing (
  resource text not null,
  notification_id text not null,
  event_type text not null,
  payload text not null,
  due integer not null,
  primary key (resource, notification_id)
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
