/** Tells where rows that are kept by days have no day, and where days that are over still stand there. */
import type { Coroutine, Query } from "../../db/index.js";

const DAY_MS = 86_400_000;
/** Days after its end for which a day of bodies is there all the same. */
const BODY_DAYS = 2;
/** Days that `adbind db partitions` takes activity to be kept for, where it is told nothing else. */
const ACTIVITY_DAYS = 30;

interface Looked {
  readonly name: string;
  readonly made: boolean;
  /** End of the oldest day that is over, unix milliseconds. */
  readonly over: number | null;
}

const BOUND = (word: string): string =>
  `(regexp_match(pg_get_expr(c.relpartbound, c.oid), '${word} [(]''{0,1}(-{0,1}[0-9]+)'))[1]::bigint`;

/** What has `_kept` in its name is what `adbind db partitions` has left of a day: what still waits. */
const LOOK = `select t.name, coalesce(bool_or(d.begins <= t.written and d.ends > t.written), false) as made,
    min(d.ends) filter (where d.ends <= t.over and d.name not like '%!_kept' escape '!') as over
  from unnest(array['adbind_job_bodies', 'adbind_activity'], ?::bigint[], ?::bigint[]) as t (name, written, over)
  left join lateral (
    select c.relname as name, ${BOUND("FROM")} as begins, ${BOUND("TO")} as ends
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = t.name::regclass
  ) d on true
  group by t.name order by t.name desc`;

/**
 * Each table is judged by the time its rows are written under: bodies are by the day they are stored on, activity by the day it
 * expires on.
 * @param now unix milliseconds
 * @param activityDays how long activity is kept that is written now
 */
export function* partitionAlarms(q: Query, now: number, activityDays: number): Coroutine<string[]> {
  const rows = yield* q.rows<Looked>(LOOK, [
    [now + DAY_MS, now + (activityDays + 1) * DAY_MS],
    // Whoever runs the command daily has dropped them.
    [now - (BODY_DAYS + 1) * DAY_MS, now - DAY_MS],
  ]);
  const option = activityDays === ACTIVITY_DAYS ? "" : ` --activity-days ${activityDays}`;
  const remedy = `run \`adbind db partitions${option}\` daily, as the owner of adbind's tables`;
  const unmade = rows.filter(({ made }) => !made).map(({ name }) => name);
  const over = rows.flatMap(({ name, over: end }) =>
    end === null ? [] : [`${name} (the oldest is ${dayBefore(end)})`],
  );
  return [
    ...(unmade.length === 0
      ? []
      : [
          `${unmade.join(" and ")}: no partition for the coming day, so that what comes is deleted row by row; ${remedy}`,
        ]),
    ...(over.length === 0
      ? []
      : [`${over.join(" and ")}: days that are over still stand there, and nothing else removes them; ${remedy}`]),
  ];
}

const dayBefore = (end: number): string => new Date(end - 1).toISOString().slice(0, 10);
