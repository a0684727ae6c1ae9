/** Endpoints that have jobs, and when something of them may be leased. */
import { type Coroutine, kept, type Query } from "../../db/index.js";
import { CLOCK } from "../../db/postgres/clock.js";
import { BEHIND_DUE_MS } from "../jobs.js";
import { UNLEASED } from "./jobs.js";

export interface DueEndpoint {
  readonly endpoint: string;
  /** When something of it may be leased. */
  readonly next: number;
  /** Its first job is leased for longer than anybody leases one: by a server's clock that was ahead, and is not any more. */
  readonly overlong: boolean;
}

/**
 * How soon is looked again where the first job of an endpoint is leased, in milliseconds: a lease is no time at which
 * something is due, and what a dead worker held has to be back within seconds of its end.
 */
const LEASED_LOOK_MS = 1_000;
/** A lease that ends later than after so many times its length was not taken by the clock that judges it. */
const OVERLONG = 2;
/** First jobs of an endpoint whose leases are shortened at a time: those that are leased come first, and the rest with the next look. */
const SHORTENED_ROWS = 2_000;

const NEXT_ENDPOINTS = kept(`with recursive found (endpoint, n) as (
    (select endpoint, 1 from adbind_jobs where topic = ? and state = 'ready' and endpoint > ? order by endpoint limit 1)
    union all
    select (select j.endpoint from adbind_jobs j
      where j.topic = ? and j.state = 'ready' and j.endpoint > found.endpoint order by j.endpoint limit 1), n + 1
    from found where found.endpoint is not null and n < ?::int
  )
  select f.endpoint, greatest(
      least(
        coalesce((select j.due from adbind_jobs j where j.topic = ? and j.endpoint = f.endpoint and j.state = 'ready'
          and ${UNLEASED} order by j.due, j.id limit 1), ${BEHIND_DUE_MS}),
        case when h.lease_until > ${CLOCK} then ?::bigint end
      ),
      (select case when e.stopped_at is null then e.paused_until else ${BEHIND_DUE_MS} end
        from adbind_endpoints e where e.topic = ? and e.endpoint = f.endpoint)) as next,
    coalesce(h.lease_until > ${CLOCK} + ?::bigint, false) as overlong
  from found f left join lateral (select j.lease_until from adbind_jobs j
    where j.topic = ? and j.endpoint = f.endpoint and j.state = 'ready' order by j.due, j.id limit 1) h on true
  where f.endpoint is not null order by f.endpoint`);

export interface DueRequest {
  /** Endpoints after this one. */
  readonly after: string;
  readonly limit: number;
  /** Unix milliseconds. */
  readonly now: number;
  /** How long a lease lasts, in milliseconds. */
  readonly leaseMs: number;
}

/**
 * The next endpoints that have jobs at all, in their order, and when something of them may be leased. The index is
 * entered twice for each endpoint, however many jobs it has, and followed past what is leased.
 */
export function* nextEndpoints(
  q: Query,
  topic: string,
  { after, limit, now, leaseMs }: DueRequest,
): Coroutine<DueEndpoint[]> {
  const found = yield* q.rows<DueEndpoint>(NEXT_ENDPOINTS, [
    ...[topic, after, topic, limit, topic, now + LEASED_LOOK_MS, topic, OVERLONG * leaseMs, topic],
  ]);
  const overlong = found.filter((one) => one.overlong).map(({ endpoint }) => endpoint);
  if (overlong.length > 0) yield* shortenLeases(q, topic, overlong, leaseMs);
  return found;
}

/** Who is alive renews a lease long before it ends then; what nobody renews is anybody's after it. */
const shortenLeases = (q: Query, topic: string, endpoints: readonly string[], leaseMs: number): Coroutine<number> =>
  q.run(
    `with held as materialized (
      select j.id from unnest(?::text[]) as e (endpoint) cross join lateral (
        select id from adbind_jobs where topic = ? and endpoint = e.endpoint and state = 'ready'
        order by due, id limit ${SHORTENED_ROWS}) f
      join adbind_jobs j on j.id = f.id where j.lease_until > ${CLOCK} + ?::bigint for update of j skip locked
    )
    update adbind_jobs set lease_until = ${CLOCK} + ?::bigint where id in (select id from held)`,
    [endpoints, topic, OVERLONG * leaseMs, leaseMs],
  );
