/** A table that grows at once: the planner is told how large it is. */
import type { PostgresDatabase } from "../../db/index.js";

/**
 * Rows added here after which the planner is told how many there are. Autovacuum looks once a minute; a burst before that
 * is taken from by sorting all of it, at every take.
 */
const ANALYZE_ROWS = 10_000;
/** The least time between two looks, in milliseconds. */
const ANALYZE_MS = 5_000;

export class Growth {
  #added = 0;
  #analyzed = Number.NEGATIVE_INFINITY;

  constructor(readonly database: Pick<PostgresDatabase, "query">) {}

  /** Beside everything else: who adds does not wait, and a look that fails is made up for by the next, or by autovacuum. */
  added(count: number): void {
    this.#added += count;
    if (this.#added < ANALYZE_ROWS || performance.now() - this.#analyzed < ANALYZE_MS) return;
    this.#added = 0;
    this.#analyzed = performance.now();
    // Bodies are only ever read by their key: sorting samples of them would take longer than the jobs.
    this.database.query((q) => q.analyze(["adbind_jobs"])).catch(() => undefined);
  }
}
