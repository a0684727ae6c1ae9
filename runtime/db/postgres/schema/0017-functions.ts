/**
 * Adding, leasing and acknowledging jobs and changing tasks as functions: a session keeps the plans of what is in them, whoever has
 * opened it and however its statements are sent, and what takes several statements is one journey. In an application's
 * transaction, and behind a pooler, planning took three times as long as running.
 */
/** Of the first job under each of some ordering keys, where it waited for another. */
const LET_NEXT_GO = `    update adbind_jobs set due = at_ms where due = 9007199254740991 and id = any(array(
      select h.id from unnest(keys) as k (ordering_key) cross join lateral (
        select id from adbind_jobs where topic = topic_name and ordering_key = k.ordering_key and state = 'ready'
          and attempts = 0 order by id limit 1
      ) h
    ));`;

/**
 * What writes what became of leased jobs, by the parts that a later step has changed.
 * @param unattempted condition on a job in `j` whose first attempt was its lease's
 * @param due when it is due then, in unix milliseconds; of what became of it in `v`
 */
export const ackFunction = ({
  make,
  unattempted,
  due = "coalesce(v.due, j.due)",
  letNextGo,
}: {
  readonly make: "create" | "create or replace";
  readonly unattempted: string;
  readonly due?: string;
  readonly letNextGo: string;
}): string => `
-- Writes what became of leased jobs, where the token is still the job's; with each what is kept of its attempt, which is
-- null where nothing is. What waited behind them under their ordering keys is due then: a statement of its own, which sees
-- what those before it did. Returns the ids of those whose token it still was, or null where it was so of all.
${make} function adbind_ack_jobs(
  topic_name text, at_ms bigint, ids bigint[], tokens text[], kinds text[], dues bigint[], errors text[], moved_to text[],
  principals text[], subjects text[], records text[], expiries bigint[]
) returns json language plpgsql as $function$
declare
  held bigint[];
  keys text[];
begin
  with v as materialized (
    select * from unnest(ids, tokens, kinds, dues, errors, moved_to) as v (id, token, kind, due, error, endpoint)
  ), gone as (
    delete from adbind_jobs j using v where v.kind = 'done' and j.id = v.id and j.token = v.token
    returning j.id, j.ordering_key, j.attempts = 0 as first
  ), kept as (
    update adbind_jobs j set token = null, lease_until = null, started_at = null,
      state = case v.kind when 'dead' then 'dead' when 'refused' then 'refused' else 'ready' end,
      attempts = j.attempts + case when v.kind in ('later', 'dead') then 1 else 0 end,
      first_at = case when v.kind in ('released', 'refused') and ${unattempted} then null else j.first_at end,
      due = ${due}, error = coalesce(v.error, j.error), endpoint = coalesce(v.endpoint, j.endpoint)
    from v where v.kind <> 'done' and j.id = v.id and j.token = v.token
    returning j.id, j.ordering_key, case v.kind when 'released' then false when 'refused' then j.attempts = 0
      else j.attempts = 1 end as first
  )
  select array_agg(id), array_agg(distinct ordering_key) filter (where first and ordering_key is not null)
    into held, keys from (select * from gone union all select * from kept) written;
  if keys is not null then
${letNextGo}
  end if;
  insert into adbind_activity (principal, subject, record, expires)
    select a.principal, a.subject, a.record, a.expires
    from unnest(ids, principals, subjects, records, expiries) as a (id, principal, subject, record, expires)
    where a.principal is not null and a.id = any(held);
  return case when cardinality(held) = cardinality(ids) then null else to_json(coalesce(held, '{}')) end;
end
$function$;
`;

/**
 * @param due when each is, in unix milliseconds
 * @param payload what those hear who are notified
 */
export const addFunction = ({
  make,
  due,
  payload,
}: {
  readonly make: "create" | "create or replace";
  readonly due: string;
  readonly payload: string;
}): string => `-- Adds jobs: an array of objects with the members below, and their bodies with a record separator (U+001E) between, each as
-- it is if it is plain, else in base64. Returns whether workers will be notified as the transaction commits, if that was
-- asked for: not where transactions may be prepared, which those that notify cannot be, nor where notifications pile up that
-- somebody does not read, since in the end no transaction commits that has another one.
${make} function adbind_add_jobs(topic_name text, at_ms bigint, jobs json, bodies text, notifies boolean) returns boolean
language plpgsql as $function$
begin
  with given as materialized (
    select * from rows from (json_to_recordset(jobs) as (key text, random boolean, endpoint text, ordering_key text,
      due bigint, meta text, plain boolean), unnest(string_to_array(bodies, chr(30)))) with ordinality
      as v (key, random, endpoint, ordering_key, due, meta, plain, body, n)
  ), added as (
    insert into adbind_jobs (topic, key, random, endpoint, ordering_key, state, due, created_at, body_at)
    select topic_name, key, random, endpoint, ordering_key, 'ready', ${due}, at_ms, at_ms from given order by n
    returning id
  )
  insert into adbind_job_bodies (at, job, meta, body) select at_ms, a.id, g.meta,
    case when g.plain then convert_to(g.body, 'UTF8') else decode(coalesce(g.body, ''), 'base64') end
    from (select id, row_number() over (order by id) as n from added) a join given g using (n);
  if notifies and current_setting('max_prepared_transactions') = '0' and pg_notification_queue_usage() < 0.5 then
    perform pg_notify('adbind_jobs', ${payload});
    return true;
  end if;
  return false;
end
$function$;
`;

export const functions = `
${addFunction({ make: "create", due: "due", payload: "topic_name" })}
-- Locks tasks and looks whether each is what its change was made from; if all are, writes tasks, dedup keys and jobs. In one
-- of several databases keyspaces are held first, and nothing is locked unless all of them are here: whoever moves one has
-- its row before those of its tasks. Returns nothing where all was written, "notified" where workers of the jobs will be,
-- too, or what was found, as JSON.
-- The state of a keyspace is no condition of what is locked: a row that was changed since the statement began is read
-- again when it is locked, and one that somebody is changing is not waited for, since tasks of others are asked for too.
-- How many values a JSON array has is not known to a plan, which takes them for a hundred and reads a table of ten thousand
-- rows as a whole: hence the ids beside them, and what stands in lateral with an offset.
create function adbind_change_tasks(
  task_ids json, keyed json, skips boolean, keyspace_kind text, fence_kind text, keyspaces json,
  changes json, dedups json, jobs_topic text, jobs_at bigint, jobs json, bodies text, notifies boolean
) returns text language plpgsql as $function$
declare
  ids text[] := array(select json_array_elements_text(task_ids));
  names text[];
  locked text[] := '{}';
  same bigint := 0;
  here boolean := true;
  notified boolean := false;
begin
  if keyspaces is not null then
    names := array(select json_array_elements_text(keyspaces));
    select count(*) filter (where held.fine) = cardinality(names) into here from (
      select k.state = 'here' and not exists (
        select from adbind_keyspaces f where f.kind = fence_kind and f.name = k.name) as fine
      from adbind_keyspaces k where k.kind = keyspace_kind and k.name = any(names)
      order by k.name for share of k skip locked) held;
  end if;
  if here and skips then
    select coalesce(array_agg(l.task_id), '{}'), count(*) filter (where l.revision = m.was) into locked, same from (
      select t.task_id, t.revision from adbind_sent_tasks t where t.task_id = any(ids) order by t.task_id
      for update skip locked) l
      left join json_to_recordset(changes) as m (task_id text, was bigint) on m.task_id = l.task_id;
  elsif here then
    select coalesce(array_agg(l.task_id), '{}'), count(*) filter (where l.revision = m.was) into locked, same from (
      select t.task_id, t.revision from adbind_sent_tasks t where t.task_id = any(ids) order by t.task_id
      for update) l
      left join json_to_recordset(changes) as m (task_id text, was bigint) on m.task_id = l.task_id;
  end if;
  if here and same = json_array_length(changes) and (dedups is null or not exists (
    select from json_to_recordset(dedups) as f (task_id text, dedup_key text) cross join lateral (
      select from adbind_dedup d where d.task_id = f.task_id and d.dedup_key = f.dedup_key offset 0) known)) then
    update adbind_sent_tasks t set status = m.status, instant = m.instant, expires = m.expires, revision = m.revision
      from json_to_recordset(changes) as m (task_id text, status text, instant text, expires bigint, revision bigint)
      where t.task_id = m.task_id and t.task_id = any(ids);
    if dedups is not null then
      insert into adbind_dedup (task_id, dedup_key, digest, keys, expires)
        select f.task_id, f.dedup_key, f.digest, f.keys, f.expires from json_to_recordset(dedups)
        as f (task_id text, dedup_key text, digest text, keys text, expires bigint);
    end if;
    if jobs is not null then
      notified := adbind_add_jobs(jobs_topic, jobs_at, jobs, bodies, notifies);
    end if;
    return case when notified then 'notified' else '' end;
  end if;
  return json_build_object(
    'tasks', (select json_agg(t) from adbind_sent_tasks t where t.task_id = any(locked)),
    'known', (select json_agg(t.task_id) from adbind_sent_tasks t where t.task_id = any(ids)),
    'dedups', (select json_agg(d) from json_to_recordset(keyed) as k (task_id text, dedup_key text) cross join lateral (
      select * from adbind_dedup d where d.task_id = k.task_id and d.dedup_key = k.dedup_key offset 0) d));
end
$function$;

-- A lease changes nothing that stands in an index, so that a row which finds room on its page costs no entry of any.
alter table adbind_jobs set (fillfactor = 45);

${ackFunction({ make: "create", unattempted: "j.attempts = 0", letNextGo: LET_NEXT_GO }).trimStart()}
-- Leases due jobs of endpoints that are neither paused nor stopped, in the order of the endpoints, at most as many of each as
-- there is room for. With a job comes the task in whose order it goes. Jobs that have to wait for another under their
-- ordering key are not leased: they come with each row, or in one row without a job. A body of JSON in ASCII comes as text,
-- which is half as long as its digits, and read in no time; what has anything else in it is longer when that is escaped.
create function adbind_lease_jobs(
  topic_name text, endpoints text[], rooms integer[], most integer, at_ms bigint, lease_token text, lease_ms bigint
) returns table (
  id bigint, key text, endpoint text, ordering_key text, attempts integer, created_at bigint, first_at bigint, error text,
  meta text, plain text, body bytea, behind json, task_id text, task_principal text, task_status text, task_details text
) language plpgsql as $function$
#variable_conflict use_column
begin
  -- The commit does not wait for the disk. A lease that a crash of the server undoes has only to be taken again, and its
  -- token is then nobody's: what was under way is sent twice, as after a crash of ours.
  perform set_config('synchronous_commit', 'off', true);
  return query with picked as materialized (
    select j.id, j.ordering_key, j.attempts from (
      select given.endpoint, given.room from unnest(endpoints, rooms) with ordinality as given (endpoint, room, n)
      where not exists (select from adbind_endpoints e where e.topic = topic_name and e.endpoint = given.endpoint
        and (e.stopped_at is not null or e.paused_until > at_ms)) order by n
    ) r cross join lateral (
      select id, ordering_key, attempts from adbind_jobs
      where topic = topic_name and endpoint = r.endpoint and state = 'ready' and due <= at_ms
        and (lease_until is null or lease_until <= (extract(epoch from clock_timestamp()) * 1000)::bigint)
      order by due, id limit r.room for update skip locked
    ) j limit most
  ), headed as materialized (
    select p.id, case when p.ordering_key is null or p.attempts > 0 then p.id else (
      select h.id from adbind_jobs h where h.topic = topic_name and h.ordering_key = p.ordering_key and h.state = 'ready'
        and h.attempts = 0 order by h.id limit 1) end as head
    from picked p
  ), leased as (
    update adbind_jobs j set token = lease_token, started_at = at_ms,
      lease_until = (extract(epoch from clock_timestamp()) * 1000)::bigint + lease_ms, first_at = coalesce(j.first_at, at_ms)
    from headed h where j.id = h.id and h.head = h.id
    returning j.id, j.key, j.endpoint, j.ordering_key, j.attempts, j.created_at, j.first_at, j.error, j.body_at
  )
  select j.id, j.key, j.endpoint, j.ordering_key, j.attempts, j.created_at, j.first_at, j.error, b.meta,
    case when octet_length(p.plain) = octet_length(b.body) then p.plain end,
    case when octet_length(p.plain) = octet_length(b.body) then null else b.body end,
    w.behind, t.task_id, t.principal, t.status, t.details
  from (select json_agg(json_build_array(id, head)) as behind from headed where head <> id) w left join leased j on true
  -- What is stored compressed is unpacked once.
  left join lateral (
    select meta, body || ''::bytea as body from adbind_job_bodies b where b.at = j.body_at and b.job = j.id offset 0) b on true
  left join lateral (select case when substr(b.body, 1, 1) = '{'::bytea
    then replace(encode(b.body, 'escape'), '\\\\', '\\') end as plain offset 0) p on true
  -- Ordering keys are compared as bytes, ids of tasks are not: without a word on it their index could not be used.
  left join lateral (
    select task_id, principal, status, details from adbind_sent_tasks
    where j.ordering_key like any(array['task:%', 'a2a:%'])
      and task_id = substr(j.ordering_key, position(':' in j.ordering_key) + 1) collate "default" offset 0) t on true
  order by j.id;
end
$function$;
`;
