/** What a sender remembers: jobs, how their groups fare, tasks, persistent channels, what was sent. */
export const sender = `
-- A group's row says when something of it may be due, so that taking looks at groups and never through one's backlog.
-- due of a job that is out is the end of its lease; beyond every clock it waits for another of its lane.
-- queued says that a job of pg-boss stands for the row; the others wait here for their time, or for their group's.
create table adbind_jobs (
  id bigint generated always as identity primary key,
  topic text not null,
  key text not null,
  random boolean not null,
  grp text not null,
  lane text,
  state text not null,
  queued boolean not null,
  due bigint not null,
  attempts integer not null default 0,
  created_at bigint not null,
  first_at bigint,
  started_at bigint,
  claim text,
  error text,
  meta text not null,
  body bytea not null
) with (fillfactor = 80);
create unique index adbind_jobs_key on adbind_jobs (topic, key) where not random;
create index adbind_jobs_due on adbind_jobs (topic, grp, due) where state = 'ready' and not queued;
create index adbind_jobs_lane on adbind_jobs (topic, lane, id) where state = 'ready' and lane is not null and attempts = 0;
create index adbind_jobs_dead on adbind_jobs (topic, id) where state = 'dead';

create table adbind_groups (
  topic text not null,
  grp text not null,
  ready_at bigint not null,
  paused_until bigint not null default 0,
  failing_since bigint,
  primary key (topic, grp)
) with (fillfactor = 50);
create index adbind_groups_ready on adbind_groups (topic, ready_at);

create table adbind_sent_tasks (
  task_id text primary key,
  principal text not null,
  tool text not null,
  status text not null,
  instant text not null,
  details text not null,
  expires bigint not null
);
create index adbind_sent_tasks_expires on adbind_sent_tasks (expires);

create table adbind_channels (
  resource text not null,
  kind text not null,
  principal text not null,
  config text not null,
  sequence integer not null default 0,
  period_start bigint,
  next_fire bigint,
  closed integer not null default 0,
  primary key (resource, kind)
);
create index adbind_channels_fire on adbind_channels (next_fire) where next_fire is not null;

create table adbind_coalescing (
  resource text not null,
  notification_id text not null,
  event_type text not null,
  payload text not null,
  due bigint not null,
  primary key (resource, notification_id)
);
create index adbind_coalescing_due on adbind_coalescing (due);

create table adbind_activity (
  id bigint generated always as identity primary key,
  principal text not null,
  subject text not null,
  record text not null,
  expires bigint not null
);
create index adbind_activity_subject on adbind_activity (principal, subject, id);
create index adbind_activity_expires on adbind_activity (expires);
`;
