/**
 * Who is told that jobs were added is told of which endpoints, and need not look for them among all others. What is to go at once is due by
 * the server's clock where that of the instance is ahead: nobody else would lease it before.
 */
import { addFunction } from "./0017-functions.js";

const due = `case when due > at_ms then due
      else least(due, (extract(epoch from clock_timestamp()) * 1000)::bigint) end`;
/** Under the 8,000 bytes that a payload may have; who adds many has them looked for, and does not pay for their names. */
const payload = `(
      select case when octet_length(p) < 4000 then p else topic_name end from (
        select concat_ws(chr(10), topic_name, string_agg(distinct e.endpoint, chr(10))) as p
          from json_to_recordset(case when octet_length(jobs::text) < 8000 then jobs else '[]' end) as e (endpoint text)) named)`;

export const namedWakes = addFunction({ make: "create or replace", due, payload });
