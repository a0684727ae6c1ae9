/** Jobs by their ordering keys. Those that were never attempted and the others have an index each: both are asked for. */
import type { Coroutine, Query } from "../db/index.js";
import type { JobUnderWay } from "./jobs.js";

/**
 * Jobs looked at under each ordering key: of those that were never attempted the first, since only what goes first is leased, or went
 * first until an older one was replayed; of the others any.
 */
const LOOKED_AT = { first: 1_000, attempted: 10_000 } as const;

/**
 * Jobs under some ordering keys that are leased and have begun. One text for every engine. Of a backlog only a part is looked at:
 * whoever asks what became of the events of one, again and again, would have all of it read each time.
 */
export function* jobsUnderWay(q: Query, topic: string, orderingKeys: readonly string[]): Coroutine<JobUnderWay[]> {
  if (orderingKeys.length === 0) return [];
  const some = (part: string): string => `select * from (select id, key, attempts, started_at, token, body_at
    from adbind_jobs where topic = ? and ordering_key = ? and state = 'ready' and ${part}) s`;
  const first = some(`attempts = 0 order by id limit ${LOOKED_AT.first}`);
  const attempted = some(`attempts > 0 limit ${LOOKED_AT.attempted}`);
  return yield* q.rows<JobUnderWay>(
    `select j.id, j.key, j.attempts, j.started_at as "startedAt", b.meta
      from (${orderingKeys.map(() => `${first} union all ${attempted}`).join(" union all ")}) j
      join adbind_job_bodies b on b.job = j.id and b.at = j.body_at
      where j.started_at is not null and j.token is not null`,
    orderingKeys.flatMap((key) => [topic, key, topic, key]),
  );
}

/**
 * Which of some ordering keys something waits under. One text for every engine: each key is entered by itself, for no more than
 * one job, so that the backlog of others is not read.
 */
export function* waitingUnder(
  q: Query,
  topic: string,
  orderingKeys: readonly string[],
): Coroutine<ReadonlySet<string>> {
  if (orderingKeys.length === 0) return new Set();
  const first = (attempts: string): string => `(select j.id from adbind_jobs j where j.topic = ?
    and j.ordering_key = k.ordering_key and j.state = 'ready' and j.attempts ${attempts} limit 1)`;
  const rows = yield* q.rows<{ ordering_key: string; id: number | null }>(
    `with k (ordering_key) as (values ${orderingKeys.map(() => "(?)").join(", ")})
      select ordering_key, coalesce(${first("= 0")}, ${first("> 0")}) as id from k`,
    [...orderingKeys, topic, topic],
  );
  return new Set(rows.filter(({ id }) => id !== null).map((row) => row.ordering_key));
}

/** Ordering keys: one, or all that begin with some words, of which the last character is one of ASCII. */
export type OrderingKeys = string | { readonly prefix: string };

/** The first and the last of ordering keys, by their bytes. */
export function boundsOf(keys: OrderingKeys): readonly [from: string, to: string] {
  if (typeof keys === "string") return [keys, keys];
  const { prefix } = keys;
  return [prefix, prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)];
}
