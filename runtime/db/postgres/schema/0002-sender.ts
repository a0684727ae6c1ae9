/** What a sender remembers: jobs, how their groups fare, tasks, persistent channels, what was sent. */
export const sender = `
-- Jobs are leased by their token until lease_until, by the database's clock; nobody's after that.
-- due beyond every clock: it waits for another under its ordering key. Names and keys are compared as bytes: faster.
-- Rows come and go at a great rate: autovacuum looks at them early.
create table adbind_jobs (
  id bigint generated always as identity primary key,
  topic text collate "C" not null,
  key text not null,
  random boolean not null,
  endpoint text collate "C" not null,
  ordering_key text collate "C",
  state text not null,
  due bigint not null,
  attempts integer not null default 0,
  created_at bigint not null,
  first_at bigint,
  started_at bigint,
  lease_until bigint,
  token text,
  error text,
  body_at bigint not null
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create unique index adbind_jobs_key on adbind_jobs (topic, key) where not random;
create index adbind_jobs_due on adbind_jobs (topic, endpoint, due, id) where state = 'ready';
create index adbind_jobs_order on adbind_jobs (topic, ordering_key, id)
  where state = 'ready' and ordering_key is not null and attempts = 0;
create index adbind_jobs_kept on adbind_jobs (topic, id) where state <> 'ready';
create index adbind_jobs_kept_endpoint on adbind_jobs (topic, endpoint, id) where state <> 'ready';
create index adbind_jobs_kept_since on adbind_jobs (topic, created_at) where state <> 'ready';

-- What is sent, apart from what is leased: written once. By day (see adbind db partitions), and days are dropped, not
-- deleted from; what comes before its day was made, and what outlives it, is in the default partition.
create table adbind_job_bodies (
  at bigint not null,
  job bigint not null,
  meta text not null,
  body bytea not null,
  primary key (at, job)
) partition by range (at);
create table adbind_job_bodies_default partition of adbind_job_bodies default;

-- Endpoints that fail, and until when they are left alone; stopped_at is set where an operator has paused one.
create table adbind_endpoints (
  topic text collate "C" not null,
  endpoint text collate "C" not null,
  paused_until bigint not null default 0,
  failing_since bigint,
  stopped_at bigint,
  primary key (topic, endpoint)
) with (fillfactor = 50);

-- An event under a dedup key is made once: again with the same content is the same event.
create table adbind_dedup (
  task_id text not null,
  dedup_key text not null,
  digest text not null,
  keys text not null,
  expires bigint not null,
  primary key (task_id, dedup_key)
);
create index adbind_dedup_expires on adbind_dedup (expires);

-- A change finds room for its row on the same page, where it costs no entry of an index; and what it changes stands together,
-- so that no more than that goes to the log. Of tasks that were stored together and change together that is a third of the work.
create table adbind_sent_tasks (
  task_id text primary key,
  principal text not null,
  tool text not null,
  expires bigint not null,
  -- Random, another one after each change.
  revision bigint not null default 0,
  status text not null,
  instant text not null,
  details text not null
) with (fillfactor = 50);
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
  period_start bigint,
  next_fire bigint,
  closed integer not null default 0,
  closed_at bigint,
  release text,
  primary key (resource, kind, subscriber)
);
create index adbind_channels_closed on adbind_channels (closed_at) where closed_at is not null;
create index adbind_channels_fire on adbind_channels (next_fire) where next_fire is not null;

-- Secrets of registrations, sealed: whose they are, under which key; gone when what they are for is over.
create table adbind_sender_secrets (
  registration text collate "C" primary key,
  principal text not null,
  key_id text not null,
  box text not null,
  endpoint text not null,
  ordering_key text not null,
  check_at bigint not null
);
create index adbind_sender_secrets_check on adbind_sender_secrets (check_at);

-- Changes in one slot of a resource become one event.
create table adbind_coalescing (
  resource text not null,
  slot text not null,
  notification_id text not null,
  event_type text not null,
  payload text not null,
  due bigint not null,
  primary key (resource, slot)
);
create index adbind_coalescing_due on adbind_coalescing (due);

-- By the day it expires.
create table adbind_activity (
  id bigint generated always as identity,
  principal text not null,
  subject text not null,
  record text not null,
  expires bigint not null,
  primary key (expires, id)
) partition by range (expires);
create table adbind_activity_default partition of adbind_activity default;
create index adbind_activity_subject on adbind_activity (principal, subject, id);

-- For applications in any language: stores a change of a task's status in the caller's transaction. A sender makes the
-- event of it; what it refuses is set aside, with its reason (adbind outbox list). Returns the number of the stored change.
-- Changes of a principal's tasks are an endpoint of their own, named after it as those of its URLs are, so that turns are shared
-- out, and what waits is capped, for each principal; those of tasks that are not known here are another.
create function adbind_enqueue(
  task_id text, status text, result json default null, message text default null, dedup_key text default null
) returns bigint language plpgsql as $function$
declare
  at bigint := (extract(epoch from clock_timestamp()) * 1000)::bigint;
  change json := json_build_object('taskId', adbind_enqueue.task_id, 'status', adbind_enqueue.status,
    'result', adbind_enqueue.result, 'message', adbind_enqueue.message, 'dedupKey', adbind_enqueue.dedup_key);
  content text := 'sql:' || encode(sha256(convert_to(
    jsonb_build_array(adbind_enqueue.status, adbind_enqueue.result, adbind_enqueue.message)::text, 'UTF8')), 'hex');
  name text := 'sql:' || adbind_enqueue.dedup_key;
  place text := coalesce((select 'changes ' || left(translate(
      encode(sha256(convert_to(t.principal, 'UTF8')), 'base64'), '+/', '-_'), 22) || '.'
    from adbind_sent_tasks t where t.task_id = adbind_enqueue.task_id), 'changes');
  known record;
  job bigint;
begin
  if adbind_enqueue.task_id is null or adbind_enqueue.status is null then
    raise exception 'adbind_enqueue needs a task_id and a status' using errcode = 'null_value_not_allowed';
  end if;
  if adbind_enqueue.dedup_key is not null then
    insert into adbind_dedup as d (task_id, dedup_key, digest, keys, expires)
      values (adbind_enqueue.task_id, name, content, '', at + 7776000000)
      on conflict on constraint adbind_dedup_pkey do nothing;
    if not found then
      select d.digest, d.keys into known from adbind_dedup d
        where d.task_id = adbind_enqueue.task_id and d.dedup_key = name;
      if known.digest <> content then
        raise exception 'dedup key % of task % was used for other content', adbind_enqueue.dedup_key,
          adbind_enqueue.task_id using errcode = 'unique_violation';
      end if;
      return known.keys::bigint;
    end if;
  end if;
  insert into adbind_jobs (topic, key, random, endpoint, ordering_key, state, due, created_at, body_at)
    values ('webhooks', gen_random_uuid()::text, true, place, 'change:' || md5(adbind_enqueue.task_id), 'ready', at, at,
      at)
    returning id into job;
  insert into adbind_job_bodies (at, job, meta, body)
    values (at, job, json_build_object('kind', 'change', 'taskId', adbind_enqueue.task_id)::text,
      convert_to(change::text, 'UTF8'));
  update adbind_dedup d set keys = job::text where d.task_id = adbind_enqueue.task_id and d.dedup_key = name;
  return job;
end
$function$;
`;
