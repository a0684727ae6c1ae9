/**
 * Functions do the same whatever the session of their caller is set to. A session keeps a plan of what is in them, and makes it as it is
 * set itself: by its search_path it found tables of others, and with standard_conforming_strings off what took a backslash for a
 * character could not be read.
 */
export const anySession = `
-- Names of ours in functions of ours have the schema with them that the tables are in. A search_path of the functions' own would be
-- that of triggers on the tables too, which are somebody else's, and be set in each call. A step that makes one of these functions
-- anew does this anew.
do $do$
declare
  own text := (select relnamespace::regnamespace::text from pg_class where oid = 'adbind_jobs'::regclass);
  made text;
begin
  for made in select pg_get_functiondef(oid) from pg_proc where pronamespace = own::regnamespace and proname = any(array[
    'adbind_enqueue', 'adbind_add_jobs', 'adbind_change_tasks', 'adbind_ack_jobs', 'adbind_lease_jobs', 'adbind_let_next_go'])
  loop
    made := replace(made, $was$'\\\\', '\\'$was$, 'repeat(chr(92), 2), chr(92)');
    made := regexp_replace(made, '(?<=[[:<:]](from|join|into|update|perform) |:= )((("[^"]*")+|[a-z0-9_]+)[.])?(?=adbind_)', '@own@', 'g');
    execute replace(made, '@own@', own || '.');
  end loop;
end
$do$;
`;
