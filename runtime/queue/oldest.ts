/** Whether what waits at endpoints has waited for too long. */
import type { Coroutine, Query } from "../db/index.js";
import { UNATTEMPTED } from "./jobs.js";

/** Of an endpoint's jobs, whether there are any. */
export interface OldJobs {
  /** Added, or replayed, by then, and not attempted since. */
  readonly added: boolean;
  /** Attempted for the first time by then. */
  readonly begun: boolean;
}

interface OldRow {
  readonly endpoint: string;
  readonly added: number;
  readonly begun: number;
}

/**
 * Asked of many endpoints at once: to try each would be two transactions that write, of which nearly all find nothing. Where there are
 * old ones the first is enough: who has many of them to end asks again and again.
 * @param before unix milliseconds
 */
export function* oldJobs(
  q: Query,
  topic: string,
  { endpoints, before }: { readonly endpoints: readonly string[]; readonly before: number },
): Coroutine<ReadonlyMap<string, OldJobs>> {
  if (endpoints.length === 0) return new Map();
  // In the order of its index: whether there is any, PostgreSQL would look for through all endpoints' jobs, for each question again.
  const any = (
    which: string,
  ): string => `coalesce((select 1 from adbind_jobs j where j.topic = ? and j.endpoint = e.endpoint
    and j.state = 'ready' and ${which} <= ? order by j.due, j.id limit 1), 0)`;
  const rows = yield* q.rows<OldRow>(
    `select e.endpoint, ${any(`${UNATTEMPTED} and created_at`)} as added, ${any("attempts > 0 and first_at")} as begun
    from (${endpoints.map(() => "select cast(? as text) as endpoint").join(" union all ")}) e`,
    [topic, before, topic, before, ...endpoints],
  );
  return new Map(rows.map(({ endpoint, added, begun }) => [endpoint, { added: added === 1, begun: begun === 1 }]));
}
