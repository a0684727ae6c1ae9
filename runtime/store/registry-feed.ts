/** In which order authorizations changed: one row a pair of publisher and agent, as rows. */
import type { Coroutine } from "../db/coroutine.js";
import type { Columns, Query } from "../db/types.js";
import type { ProfileRow } from "./registry-profiles.js";

/** The latest change of what a publisher says of an agent; of `agent` 0, of the publisher itself. */
export interface FeedRow {
  readonly publisher: number;
  readonly agent: number;
  /** Clock of the change. */
  readonly seq: number;
  /** Orders what one transaction changed. */
  readonly position: number;
  /** JSON: every authorization type the pair ever had. */
  readonly types: string;
  /** Tells whether what is said is as it was. */
  readonly digest: string;
  /** Nothing is said any more. */
  readonly gone: number;
  /** Clock at which the pair came, or came back. */
  readonly first: number;
  readonly at: number;
}

const feedColumns: Columns = [
  ["publisher", "bigint"],
  ["agent", "bigint"],
  ["seq", "bigint"],
  ["position", "bigint"],
  ["types", "text"],
  ["digest", "text"],
  ["gone", "bigint"],
  ["first", "bigint"],
  ["at", "bigint"],
];

export const feedOf = (q: Query, publishers: readonly number[]): Coroutine<FeedRow[]> =>
  q.rows(`select * from adbind_registry_feed where ${q.dialect.among("publisher", "bigint")}`, [
    q.dialect.list(publishers),
  ]);

/** The latest change of what a publisher says of an agent. */
export function* pairChange(q: Query, publisher: number, agent: number): Coroutine<FeedRow | undefined> {
  const text = "select * from adbind_registry_feed where publisher = ? and agent = ?";
  return (yield* q.rows<FeedRow>(text, [publisher, agent]))[0];
}

/** The agents of a publisher of which something changed last, the newest first. */
export const newestPairs = (
  q: Query,
  publisher: number,
  limit: number,
): Coroutine<(Pick<FeedRow, "gone" | "first" | "seq" | "at"> & { readonly url: string })[]> =>
  q.rows(
    "select f.gone, f.first, f.seq, f.at, g.url from (select * from adbind_registry_feed where publisher = ? and agent <> 0 " +
      "order by at desc, seq desc, position limit ?) f join adbind_registry_agents g on g.id = f.agent " +
      "order by f.at desc, f.seq desc, f.position",
    [publisher, limit],
  );

export function* putFeed(q: Query, rows: readonly FeedRow[]): Coroutine<void> {
  if (rows.length === 0) return;
  const set = feedColumns.slice(2).map(([name]) => `${name} = excluded.${name}`);
  const values = rows.map((row) => feedColumns.map(([name]) => row[name as keyof FeedRow]));
  yield* q.insert(
    "adbind_registry_feed",
    feedColumns,
    values,
    `on conflict (publisher, agent) do update set ${set.join(", ")}`,
  );
}

/** What a publisher says of an agent, by source. */
export interface SaidRow {
  readonly publisher: number;
  readonly agent: number;
  readonly source: "adagents_json" | "aao_hosted";
  readonly entries: string;
}

/** What stands of what publishers say themselves, or a file hosted for one that has none; claims are nobody's word but the claimant's. */
const standing = "a.source <> 'agent_claim' and (a.source <> 'aao_hosted' or coalesce(p.valid, 0) <> 1)";

export const saidBy = (q: Query, publishers: readonly number[]): Coroutine<SaidRow[]> =>
  q.rows(
    "select a.publisher, a.agent, a.source, a.entries from adbind_registry_authorizations a " +
      `join adbind_registry_publishers p on p.id = a.publisher where ${q.dialect.among("a.publisher", "bigint")} ` +
      `and ${standing} order by a.publisher, a.agent, a.source`,
    [q.dialect.list(publishers)],
  );

interface ProfileChanges {
  readonly seq: number;
  readonly agent: number;
  /** Newest clock wanted. */
  readonly until: number;
  readonly limit: number;
}

/** Profiles changed after a place, in their order: they are versioned by the same clock. */
export const profileChangesAfter = (q: Query, { seq, agent, until, limit }: ProfileChanges): Coroutine<ProfileRow[]> =>
  q.rows(
    "select * from adbind_registry_profiles where (version, agent) > (?, ?) and version <= ? order by version, agent limit ?",
    [seq, agent, until, limit],
  );

export interface StoredFeedEnd {
  /** Clock of the newest change. */
  readonly seq: number;
  /** When it was; null where nothing changed yet. */
  readonly at: number | null;
  /** Changes up to this clock that took something away are forgotten. */
  readonly pruned: number;
}

/** @param mark all changes up to it can be seen */
export function* feedEndAt(q: Query, mark: number): Coroutine<StoredFeedEnd> {
  const [clock] = yield* q.rows<{ feed_pruned: number }>("select feed_pruned from adbind_registry_clock where id = 1");
  const [change] = yield* q.rows<{ seq: number; at: number }>(
    "select seq, at from adbind_registry_feed where seq <= ? order by seq desc, position desc limit 1",
    [mark],
  );
  const [profile] = yield* q.rows<{ seq: number; at: number }>(
    "select version as seq, updated_at as at from adbind_registry_profiles where version <= ? order by version desc limit 1",
    [mark],
  );
  const newest = (profile?.seq ?? 0) > (change?.seq ?? 0) ? profile : change;
  return { seq: newest?.seq ?? 0, at: newest?.at ?? null, pruned: clock!.feed_pruned };
}

export function* anyGone(q: Query, before: number): Coroutine<boolean> {
  const text = "select at from adbind_registry_feed where gone = 1 and at < ? limit 1";
  return (yield* q.rows(text, [before])).length > 0;
}

/** Forgets pairs that are gone since before a time. @returns how many */
export function* pruneFeed(q: Query, before: number, limit: number): Coroutine<number> {
  const rows = yield* q.rows<{ publisher: number; agent: number; seq: number }>(
    "select publisher, agent, seq from adbind_registry_feed where gone = 1 and at < ? order by at limit ?",
    [before, limit],
  );
  if (rows.length === 0) return 0;
  const keys: Columns = [
    ["publisher", "bigint"],
    ["agent", "bigint"],
  ];
  yield* q.remove(
    "adbind_registry_feed",
    keys,
    rows.map(({ publisher, agent }) => [publisher, agent]),
  );
  const last = Math.max(...rows.map(({ seq }) => seq));
  yield* q.run(
    "update adbind_registry_clock set feed_pruned = case when feed_pruned > ? then feed_pruned else ? end where id = 1",
    [last, last],
  );
  return rows.length;
}
