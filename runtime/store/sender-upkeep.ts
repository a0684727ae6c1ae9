/** Rows of a sender as an operator, or time, goes through them. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import type { ChannelKey, ChannelRow, TaskEndpoints, TaskTargetRow } from "./sender-rows.js";

export interface UpkeepTables {
  /** Tasks by one of their endpoints, locked; an empty name finds those of which it was never noted. */
  tasksAt(tx: Query, at: TaskPlace): Coroutine<TaskTargetRow[]>;
  /** Channels by their endpoint, locked; in the same way. */
  channelsAt(tx: Query, at: ChannelPlace): Coroutine<ChannelRow[]>;
  /** Channels that closed before a time, locked; without those that another transaction holds. */
  closedChannels(tx: Query, before: number, limit: number): Coroutine<ChannelRow[]>;
  /** Removes channels, and whose a media buy was when none of it is left. */
  dropChannels(tx: Query, keys: readonly ChannelKey[]): Coroutine<void>;
  /** Has closed channels taken for closed at another time. */
  putOffChannels(tx: Query, keys: readonly ChannelKey[], closedAt: number): Coroutine<void>;
  /** What waits for a later time than it may is to wait for that, and a report for its next turn: none has covered a time after `now`. */
  pull(tx: Query, now: number, latest: LatestTimes): Coroutine<void>;
  /** What waits for longest, as a unix time in milliseconds, and how many endpoints are how. */
  overview(tx: Query, topic: string, now: number): Coroutine<Overview>;
  /** Whether an endpoint has events, of whatever state, or registrations, or something is noted of it. */
  knowsEndpoint(q: Query, topic: string, endpoint: string): Coroutine<boolean>;
  /** Forgets, of some endpoints by name, those of which nothing is to be remembered any more. */
  dropIdleEndpoints(tx: Query, topic: string, page: EndpointPage): Coroutine<LookedAt>;
  /** Removes the oldest activity beyond a number of rows. @returns rows */
  trimActivity(tx: Query, keep: number, limit: number): Coroutine<number>;
}

/** Latest times that something may wait for, in unix milliseconds. */
export interface LatestTimes {
  readonly coalesced: number;
  /** Of a challenge to a config that was moved. */
  readonly proof: number;
  /** Of the report of a buy that has ended. */
  readonly final: number;
  /** Of scheduled reports, by their frequency, and which is the next. */
  readonly turns: Readonly<Record<string, { readonly next: number; readonly latest: number }>>;
}

export interface TaskPlace {
  /** `reporting`: every task that holds a config for reports of the buy it makes, wherever they go; that stands in its details only. */
  readonly column: keyof TaskEndpoints | "reporting";
  readonly endpoint: string;
  /** Ids after this one. */
  readonly after: string;
  readonly limit: number;
}

export interface ChannelPlace {
  readonly endpoint: string;
  readonly after: ChannelKey;
  readonly limit: number;
}

export interface EndpointPage {
  /** Nothing was learnt of them since this time, and whatever they rested for was over then. */
  readonly before: number;
  /** Names after this one. */
  readonly after: string;
  /** Most that are looked at. */
  readonly limit: number;
}

export interface LookedAt {
  readonly removed: number;
  /** The last that was looked at; undefined where there is none behind it. */
  readonly last: string | undefined;
}

export interface Overview {
  readonly oldest: number | null;
  readonly paused: number;
  readonly resting: number;
  readonly failing: number;
}

const keyColumns = [
  ["resource", "text"],
  ["kind", "text"],
  ["subscriber", "text"],
] as const;

const keyValues = ({ resource, kind, subscriber }: ChannelKey): string[] => [resource, kind, subscriber];

export const upkeepTables = (lock: string): UpkeepTables => ({
  tasksAt(tx, { column, endpoint, after, limit }) {
    const [place, value] = column === "reporting" ? ["details like", '%"reporting":{%'] : [`${column} =`, endpoint];
    return tx.rows<TaskTargetRow>(
      `select task_id, principal, details, status from adbind_sent_tasks where ${place} ? and task_id > ? ` +
        `order by task_id limit ?${lock}`,
      [value, after, limit],
    );
  },
  channelsAt: (tx, { endpoint, after: { resource, kind, subscriber }, limit }) =>
    tx.rows<ChannelRow>(
      "select * from adbind_channels where endpoint = ? and (resource, kind, subscriber) > (?, ?, ?) " +
        `order by resource, kind, subscriber limit ?${lock}`,
      [endpoint, resource, kind, subscriber, limit],
    ),
  closedChannels: (tx, before, limit) =>
    tx.rows<ChannelRow>(
      `select * from adbind_channels where closed_at < ? order by closed_at limit ?${tx.dialect.forUpdateFree}`,
      [before, limit],
    ),
  *dropChannels(tx, keys) {
    yield* tx.remove("adbind_channels", keyColumns, keys.map(keyValues));
    for (const resource of new Set(keys.map((key) => key.resource)))
      yield* tx.run(
        `delete from adbind_channels where resource = ? and kind = 'buy' and not exists (
          select 1 from adbind_channels o where o.resource = ? and o.kind in ('events', 'reporting'))`,
        [resource, resource],
      );
  },
  *putOffChannels(tx, keys, closedAt) {
    if (keys.length === 0) return;
    yield* tx.run(
      "update adbind_channels set closed_at = ? where (resource, kind, subscriber) in " +
        `(values ${keys.map(() => "(?, ?, ?)").join(", ")})`,
      [closedAt, ...keys.flatMap(keyValues)],
    );
  },
  *overview(tx, topic, now) {
    const count = (when: string) => `coalesce(sum(case when ${when} then 1 else 0 end), 0)`;
    const [row] = yield* tx.rows<Record<keyof Overview, number | null>>(
      `select (select min(created_at) from adbind_jobs where topic = ? and state = 'ready') as oldest,
        ${count("stopped_at is not null")} as paused, ${count("failing_since is not null")} as failing,
        ${count("stopped_at is null and paused_until > ?")} as resting from adbind_endpoints where topic = ?`,
      [topic, now, topic],
    );
    const number = (value: number | null): number => Number(value ?? 0);
    const { oldest, paused, resting, failing } = row!;
    return { oldest, paused: number(paused), resting: number(resting), failing: number(failing) };
  },
  knowsEndpoint,
  dropIdleEndpoints,
  trimActivity,
  pull,
});

/** One condition for each index: jobs that wait and those that are kept have their own. */
const KNOWING = [
  "adbind_jobs where topic = ? and endpoint = ? and state = 'ready'",
  "adbind_jobs where topic = ? and endpoint = ? and state <> 'ready'",
  "adbind_endpoints where topic = ? and endpoint = ?",
];
const REGISTERED = [
  "adbind_sent_tasks where push_endpoint = ?",
  "adbind_sent_tasks where a2a_endpoint = ?",
  "adbind_channels where endpoint = ?",
];

function* knowsEndpoint(q: Query, topic: string, endpoint: string): Coroutine<boolean> {
  const any = [...KNOWING, ...REGISTERED].map((place) => `exists (select 1 from ${place})`).join(" or ");
  const values = [...KNOWING.flatMap(() => [topic, endpoint]), ...REGISTERED.map(() => endpoint)];
  return (yield* q.rows(`select 1 as known where ${any}`, values)).length > 0;
}

const none = (which: string): string =>
  `not exists (select 1 from adbind_jobs j where j.topic = e.topic and j.endpoint = e.endpoint and j.state ${which})`;

/** What an operator stopped stays so, though nothing waits. Jobs that wait and those that are kept have an index each. */
const IDLE = `e.stopped_at is null and e.paused_until < ? and coalesce(e.failing_since, 0) < ?
  and coalesce(e.resumed_at, 0) < ? and ${none("= 'ready'")} and ${none("<> 'ready'")}`;

const dropIdleEndpoints: UpkeepTables["dropIdleEndpoints"] = function* (tx, topic, { before, after, limit }) {
  const page = yield* tx.rows<{ endpoint: string }>(
    "select endpoint from adbind_endpoints where topic = ? and endpoint > ? order by endpoint limit ?",
    [topic, after, limit],
  );
  const last = page.at(-1)?.endpoint;
  if (last === undefined) return { removed: 0, last };
  const removed = yield* tx.run(
    `delete from adbind_endpoints where topic = ? and endpoint in (select e.endpoint from adbind_endpoints e
      where e.topic = ? and e.endpoint > ? and e.endpoint <= ? and ${IDLE}${tx.dialect.forUpdateFree})`,
    [topic, topic, after, last, before, before, before],
  );
  return { removed, last: page.length < limit ? undefined : last };
};

const pull: UpkeepTables["pull"] = function* (tx, now, { coalesced, proof, final, turns }) {
  yield* tx.run(
    `update adbind_coalescing set due = ? where (resource, slot) in (
      select resource, slot from adbind_coalescing where due > ?${tx.dialect.forUpdateFree})`,
    [coalesced, coalesced],
  );
  const channels = (
    which: string,
    { next, latest }: { readonly next: number; readonly latest: number },
    values: readonly string[] = [],
  ): Coroutine<number> =>
    tx.run(
      `update adbind_channels set next_fire = ?, period_start = case when period_start > ? then ? else period_start end
        where (resource, kind, subscriber) in (select resource, kind, subscriber from adbind_channels
        where next_fire > ? and ${which}${tx.dialect.forUpdateFree})`,
      [next, now, now, latest, ...values],
    );
  yield* channels("kind <> 'reporting'", { next: proof, latest: proof });
  yield* channels("kind = 'reporting' and closed <> 0", { next: final, latest: final });
  for (const [frequency, times] of Object.entries(turns))
    yield* channels("kind = 'reporting' and closed = 0 and config like ?", times, [
      `%${JSON.stringify({ reporting_frequency: frequency }).slice(1, -1)}%`,
    ]);
};

/**
 * The first and last row of each time at which activity expires: those are days, and few. An index is entered for each, where
 * asking for the last of all rows would read all of them.
 */
const ACTIVITY_DAYS = `with recursive days (expires) as (
    select min(expires) from adbind_activity
    union all
    select (select min(a.expires) from adbind_activity a where a.expires > days.expires) from days
      where days.expires is not null
  )
  select expires, (select min(a.id) from adbind_activity a where a.expires = days.expires) as first,
    (select max(a.id) from adbind_activity a where a.expires = days.expires) as last
  from days where expires is not null order by expires`;

const trimActivity: UpkeepTables["trimActivity"] = function* (tx, keep, limit) {
  const days = yield* tx.rows<Record<"expires" | "first" | "last", number>>(ACTIVITY_DAYS);
  const last = Math.max(0, ...days.map((day) => day.last)) - keep;
  let removed = 0;
  for (const { expires, first } of days) {
    if (first > last) continue;
    removed += yield* tx.run(
      `delete from adbind_activity where expires = ? and id <= (select max(id) from (select id from adbind_activity
        where expires = ? and id <= ? order by id limit ?) as oldest)`,
      [expires, expires, last, limit - removed],
    );
    if (removed >= limit) break;
  }
  return removed;
};
