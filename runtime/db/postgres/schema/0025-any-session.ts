/**
 * Functions do the same whatever the session of their caller is set to. A session keeps a plan of what is in them, and makes it as it is
 * set itself: with standard_conforming_strings off what took a backslash for a character could not be read.
 */
export const anySession = `
do $do$
begin
  execute replace(pg_get_functiondef(oid), $was$'\\\\', '\\'$was$, 'repeat(chr(92), 2), chr(92)') from pg_proc
    where oid = 'adbind_lease_jobs'::regproc;
end
$do$;
`;
