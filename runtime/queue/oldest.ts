/** How long what waits at endpoints has waited. */
import type { Coroutine, Query } from "../db/index.js";
import { UNATTEMPTED } from "./jobs.js";

/** Of an endpoint's jobs, in unix milliseconds; null where there are none of the kind. */
export interface OldestJobs {
  /** When the first of those was added, or replayed, that were not attempted since. */
  readonly added: number | null;
  /** When the first attempt began of that which was attempted first. */
  readonly begun: number | null;
}

interface OldestRow extends OldestJobs {
  readonly endpoint: string;
}

/** Asked of many endpoints at once: to try each would be two transactions that write, of which nearly all find nothing. */
export function* oldestJobs(
  q: Query,
  topic: string,
  endpoints: readonly string[],
): Coroutine<ReadonlyMap<string, OldestJobs>> {
  if (endpoints.length === 0) return new Map();
  const rows = yield* q.rows<OldestRow>(
    `select endpoint, min(case when ${UNATTEMPTED} then created_at end) as added,
      min(case when attempts > 0 then first_at end) as begun
    from adbind_jobs where topic = ? and state = 'ready' and endpoint in (${endpoints.map(() => "?").join(", ")})
    group by endpoint`,
    [topic, ...endpoints],
  );
  return new Map(rows.map((row) => [row.endpoint, row]));
}
