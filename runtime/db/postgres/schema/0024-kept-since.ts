/** What has ended is kept for so long from its end: it may have waited for longer than that before, and nobody had seen it end. */
import { ackFunction } from "./0017-functions.js";
import { LET_NEXT_GO, UNATTEMPTED_SINCE } from "./0020-next-go.js";
import { DUE_BY_SERVER } from "./0023-server-clock.js";

export const keptSince = `
-- Of what has ended \`due\` is when it ended.
update adbind_jobs set due = greatest(created_at, first_at) where state <> 'ready';
create index adbind_jobs_ended on adbind_jobs (topic, due) where state <> 'ready';
drop index adbind_jobs_kept_since;
${ackFunction({
  make: "create or replace",
  unattempted: UNATTEMPTED_SINCE,
  due: `case when v.kind in ('dead', 'refused') then at_ms else ${DUE_BY_SERVER} end`,
  letNextGo: LET_NEXT_GO,
})}`;
