/** Bodies of jobs that are gone, where no partition takes them along when it is dropped. */
import type { Coroutine, PostgresDatabase, Query } from "../../db/index.js";

/** Bodies looked at in one statement. */
const LOOK_ROWS = 5_000;
/** What is younger is looked at later, in milliseconds: most of it is still waiting. */
const YOUNG_MS = 600_000;

/** The last body that was looked at. */
export interface TidyCursor {
  readonly at: number;
  readonly job: number;
}

export const START: TidyCursor = { at: Number.MIN_SAFE_INTEGER, job: 0 };

interface Tidied {
  readonly gone: number;
  readonly seen: number;
  readonly at: number | null;
  readonly job: number | null;
}

/** @returns how many went, and where to go on: at the start when all were looked at */
export function* removeOrphans(
  q: Query,
  after: TidyCursor,
  now: number,
): Coroutine<{ readonly gone: number; readonly next: TidyCursor }> {
  const [row] = yield* q.rows<Tidied>(
    `with seen as materialized (
      select at, job from adbind_job_bodies_default where (at, job) > (?::bigint, ?::bigint) and at < ?::bigint
      order by at, job limit ${LOOK_ROWS}
    ), gone as (
      delete from adbind_job_bodies_default b using seen s where b.at = s.at and b.job = s.job
        and not exists (select from adbind_jobs j where j.id = s.job) returning 1
    )
    select (select count(*) from gone) as gone, (select count(*) from seen) as seen, l.at, l.job
    from (select) one left join (select at, job from seen order by at desc, job desc limit 1) l on true`,
    [after.at, after.job, now - YOUNG_MS],
  );
  const { gone, seen, at, job } = row!;
  return { gone, next: seen < LOOK_ROWS || at === null || job === null ? START : { at, job } };
}

/** How often bodies are looked at, in milliseconds; sooner where many went. */
const TIDY_MS = 60_000;
const TIDY_SOON_MS = 500;
const MANY_ROWS = 1_000;

/** Looks now and then, beside everything else; what fails is made up for by the next. */
export class Tidying {
  #last = Number.NEGATIVE_INFINITY;
  #cursor = START;

  constructor(readonly database: Pick<PostgresDatabase, "query">) {}

  /** @param now unix milliseconds */
  soon(now: number): void {
    if (performance.now() - this.#last < TIDY_MS) return;
    this.#last = performance.now();
    this.database
      .query((q) => removeOrphans(q, this.#cursor, now))
      .then(({ gone, next }) => {
        this.#cursor = next;
        // Where many were, there are more.
        if (gone >= MANY_ROWS) this.#last = performance.now() - TIDY_MS + TIDY_SOON_MS;
      })
      .catch(() => undefined);
  }
}
