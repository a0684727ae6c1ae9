/** Rows of a sender as an operator, or time, goes through them. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import type { ChannelKey, ChannelRow, TaskEndpoints, TaskTargetRow } from "./sender-rows.js";

export interface UpkeepTables {
  /** Tasks by one of their endpoints, locked; an empty name finds those of which it was never noted. */
  tasksAt(tx: Query, at: TaskPlace): Coroutine<TaskTargetRow[]>;
  /** Channels by their endpoint, locked; in the same way. */
  channelsAt(tx: Query, at: ChannelPlace): Coroutine<ChannelRow[]>;
  /** Removes channels that closed before a time, and whose a media buy was when none of it is left. @returns channels */
  dropClosedChannels(tx: Query, before: number, limit: number): Coroutine<number>;
  /** What waits for longest, as a unix time in milliseconds, and how many endpoints are how. */
  overview(tx: Query, topic: string, now: number): Coroutine<Overview>;
  /** Removes the oldest activity beyond a number of rows. @returns rows */
  trimActivity(tx: Query, keep: number, limit: number): Coroutine<number>;
}

export interface TaskPlace {
  readonly column: keyof TaskEndpoints;
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

export interface Overview {
  readonly oldest: number | null;
  readonly paused: number;
  readonly resting: number;
  readonly failing: number;
}

export const upkeepTables = (lock: string): UpkeepTables => ({
  tasksAt: (tx, { column, endpoint, after, limit }) =>
    tx.rows<TaskTargetRow>(
      `select task_id, principal, details, status from adbind_sent_tasks where ${column} = ? and task_id > ? ` +
        `order by task_id limit ?${lock}`,
      [endpoint, after, limit],
    ),
  channelsAt: (tx, { endpoint, after: { resource, kind, subscriber }, limit }) =>
    tx.rows<ChannelRow>(
      "select * from adbind_channels where endpoint = ? and (resource, kind, subscriber) > (?, ?, ?) " +
        `order by resource, kind, subscriber limit ?${lock}`,
      [endpoint, resource, kind, subscriber, limit],
    ),
  *dropClosedChannels(tx, before, limit) {
    const rows = yield* tx.rows<{ resource: string }>(
      `delete from adbind_channels where (resource, kind, subscriber) in (select resource, kind, subscriber
        from adbind_channels where closed_at < ? order by closed_at limit ?) returning resource`,
      [before, limit],
    );
    for (const resource of new Set(rows.map((row) => row.resource)))
      yield* tx.run(
        `delete from adbind_channels where resource = ? and kind = 'buy' and not exists (
          select 1 from adbind_channels o where o.resource = ? and o.kind in ('events', 'reporting'))`,
        [resource, resource],
      );
    return rows.length;
  },
  *overview(tx, topic, now) {
    const count = (when: string) => `coalesce(sum(case when ${when} then 1 else 0 end), 0)`;
    const [row] = yield* tx.rows<Record<keyof Overview, number | null>>(
      `select (select created_at from adbind_jobs where topic = ? and state = 'ready' order by id limit 1) as oldest,
        ${count("stopped_at is not null")} as paused, ${count("failing_since is not null")} as failing,
        ${count("stopped_at is null and paused_until > ?")} as resting from adbind_endpoints where topic = ?`,
      [topic, now, topic],
    );
    const number = (value: number | null): number => Number(value ?? 0);
    const { oldest, paused, resting, failing } = row!;
    return { oldest, paused: number(paused), resting: number(resting), failing: number(failing) };
  },
  *trimActivity(tx, keep, limit) {
    const [newest] = yield* tx.rows<{ id: number | null }>("select max(id) as id from adbind_activity");
    const last = (newest?.id ?? 0) - keep;
    if (last <= 0) return 0;
    return yield* tx.run(
      `delete from adbind_activity where (expires, id) in (select expires, id from adbind_activity
        where id <= ? order by expires, id limit ?)`,
      [last, limit],
    );
  },
});
