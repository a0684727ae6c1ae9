/**
 * Adding jobs and changing tasks as functions: a session keeps the plans of what is in them, whoever has opened it and however
 * its statements are sent. In an application's transaction planning took three times as long as running.
 */
export const taskChanges = `
-- Adds jobs: an array of objects with the members below, and their bodies with a record separator (U+001E) between, each as
-- it is if it is plain, else in base64. Returns how many.
create function adbind_add_jobs(topic_name text, at_ms bigint, jobs json, bodies text) returns bigint
language plpgsql as $function$
declare
  added_jobs bigint;
begin
  with given as materialized (
    select * from rows from (json_to_recordset(jobs) as (key text, random boolean, endpoint text, ordering_key text,
      due bigint, meta text, plain boolean), unnest(string_to_array(bodies, chr(30)))) with ordinality
      as v (key, random, endpoint, ordering_key, due, meta, plain, body, n)
  ), added as (
    insert into adbind_jobs (topic, key, random, endpoint, ordering_key, state, due, created_at, body_at)
    select topic_name, key, random, endpoint, ordering_key, 'ready', due, at_ms, at_ms from given order by n
    returning id
  )
  insert into adbind_job_bodies (at, job, meta, body) select at_ms, a.id, g.meta,
    case when g.plain then convert_to(g.body, 'UTF8') else decode(coalesce(g.body, ''), 'base64') end
    from (select id, row_number() over (order by id) as n from added) a join given g using (n);
  get diagnostics added_jobs = row_count;
  return added_jobs;
end
$function$;

-- Locks tasks and looks whether each is what its change was made from; if all are, writes tasks, dedup keys and jobs. In one
-- of several databases keyspaces are held first, and nothing is locked unless all of them are here: whoever moves one has
-- its row before those of its tasks. Returns nothing where all was written, or what was found as JSON.
-- The state of a keyspace is no condition of what is locked: a row that was changed since the statement began is read
-- again when it is locked, and one that somebody is changing is not waited for, since tasks of others are asked for too.
-- How many values a JSON array has is not known to a plan, which takes them for a hundred and reads a table of ten thousand
-- rows as a whole: hence the ids beside them, and what stands in lateral with an offset.
create function adbind_change_tasks(
  task_ids json, keyed json, skips boolean, keyspace_kind text, fence_kind text, keyspaces json,
  changes json, dedups json, jobs_topic text, jobs_at bigint, jobs json, bodies text
) returns text language plpgsql as $function$
declare
  ids text[] := array(select json_array_elements_text(task_ids));
  names text[];
  locked text[] := '{}';
  same bigint := 0;
  here boolean := true;
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
      perform adbind_add_jobs(jobs_topic, jobs_at, jobs, bodies);
    end if;
    return '';
  end if;
  return json_build_object(
    'tasks', (select json_agg(t) from adbind_sent_tasks t where t.task_id = any(locked)),
    'known', (select json_agg(t.task_id) from adbind_sent_tasks t where t.task_id = any(ids)),
    'dedups', (select json_agg(d) from json_to_recordset(keyed) as k (task_id text, dedup_key text) cross join lateral (
      select * from adbind_dedup d where d.task_id = k.task_id and d.dedup_key = k.dedup_key offset 0) d));
end
$function$;
`;
