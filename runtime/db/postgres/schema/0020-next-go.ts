/**
 * Who ends the first job under an ordering key lets the next one go. Where two transactions end two of them at the same time each
 * finds the other's still there, and neither did: the rest waited for ever.
 */
import { ackFunction } from "./0017-functions.js";

/** Of what `ackFunction` is made. */
export const UNATTEMPTED_SINCE = "(j.attempts = 0 or j.first_at = j.started_at)";
export const LET_NEXT_GO = "    perform adbind_let_next_go(topic_name, keys, at_ms);";

/** @param due when the next one is, in unix milliseconds */
export const nextGoFunction = ({
  make,
  due,
}: {
  readonly make: "create" | "create or replace";
  readonly due: string;
}): string => `
-- Makes the first job that has not been attempted under each ordering key due, where it waited for another. Where the first
-- does not wait, or has just ended, another transaction may be ending it, and may have found ours still there: such take
-- turns under a lock of the key's, and look again, so that whoever is last sees what both have done.
${make} function adbind_let_next_go(topic_name text, keys text[], at_ms bigint) returns void language plpgsql as $function$
declare
  unsure text[] := keys;
begin
  for look in 1 .. 8 loop
    with heads as materialized (
      select k.ordering_key, h.id, h.due from unnest(unsure) as k (ordering_key) cross join lateral (
        select id, due from adbind_jobs where topic = topic_name and ordering_key = k.ordering_key and state = 'ready'
          and attempts = 0 order by id limit 1
      ) h
    ), freed as (
      update adbind_jobs j set due = ${due} from heads h where j.id = h.id and j.due = 9007199254740991
        and j.state = 'ready' and j.attempts = 0
      returning j.id
    )
    select array_agg(h.ordering_key order by h.ordering_key) into unsure from heads h
      where h.id not in (select id from freed) and (look = 1 or h.due = 9007199254740991);
    exit when unsure is null;
    if look = 1 then
      perform pg_advisory_xact_lock(hashtextextended('adbind next under ' || topic_name || ' ' || k.ordering_key, 0))
        from unnest(unsure) as k (ordering_key);
    end if;
  end loop;
end
$function$;
`;

export const nextGo = `${nextGoFunction({ make: "create", due: "at_ms" })}
-- A job that was replayed, and whose lease was given back without an attempt, has not been attempted since.
${ackFunction({
  make: "create or replace",
  unattempted: UNATTEMPTED_SINCE,
  letNextGo: LET_NEXT_GO,
}).trimStart()}`;
