/** Jobs by their ordering keys. Those that were never attempted and the others have an index each: both are asked for. */
import type { Coroutine, Query } from "../db/index.js";
import type { JobUnderWay } from "./jobs.js";

/** Jobs under some ordering keys that are leased and have begun. One text for every engine. */
export function* jobsUnderWay(q: Query, topic: string, orderingKeys: readonly string[]): Coroutine<JobUnderWay[]> {
  if (orderingKeys.length === 0) return [];
  const under = (attempts: string): string => `select j.id, j.key, j.attempts, j.started_at as "startedAt", b.meta
    from adbind_jobs j join adbind_job_bodies b on b.job = j.id and b.at = j.body_at
    where topic = ? and ordering_key in (${orderingKeys.map(() => "?").join(", ")}) and state = 'ready'
      and attempts ${attempts} and started_at is not null and token is not null`;
  const given = [topic, ...orderingKeys];
  return yield* q.rows<JobUnderWay>(`${under("= 0")} union all ${under("> 0")}`, [...given, ...given]);
}

/** Ordering keys: one, or all that begin with some words, of which the last character is one of ASCII. */
export type OrderingKeys = string | { readonly prefix: string };

/** The first and the last of ordering keys, by their bytes. */
export function boundsOf(keys: OrderingKeys): readonly [from: string, to: string] {
  if (typeof keys === "string") return [keys, keys];
  const { prefix } = keys;
  return [prefix, prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)];
}
