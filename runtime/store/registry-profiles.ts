/** Profiles of agents, counters and import checkpoints, as rows. */
import type { Coroutine } from "../db/coroutine.js";
import type { Columns, ListValue, Query, Value } from "../db/types.js";
import type { ProfileRow } from "./profile-row.js";
import { noteMovesPruned, takesPruning } from "./registry-clock.js";

export type { ProfileRow } from "./profile-row.js";

/** An agent's score before a change. */
export interface MoveRow {
  readonly version: number;
  readonly agent: number;
  readonly before: number;
  /** Clock at which it had come. */
  readonly born: number;
}

const profileColumns: Columns = [
  ["agent", "bigint"],
  ["url", "text"],
  ["registered", "bigint"],
  ["score", "double precision"],
  ["property_count", "bigint"],
  ["publisher_count", "bigint"],
  ["has_tmp", "bigint"],
  ["taxonomy", "text"],
  ["lists", "text"],
  ["updated_at", "bigint"],
  ["born", "bigint"],
  ["version", "bigint"],
  ["gone", "bigint"],
  ["type_counts", "text"],
];

export function* putProfiles(q: Query, rows: readonly ProfileRow[]): Coroutine<void> {
  if (rows.length === 0) return;
  const set = profileColumns.slice(1).map(([name]) => `${name} = excluded.${name}`);
  const values = rows.map((row) => profileColumns.map(([name]) => row[name as keyof ProfileRow] as Value));
  yield* q.insert(
    "adbind_registry_profiles",
    profileColumns,
    values,
    `on conflict (agent) do update set ${set.join(", ")}`,
  );
}

export const profilesOf = (q: Query, agents: readonly number[]): Coroutine<ProfileRow[]> =>
  q.rows(`select * from adbind_registry_profiles where ${q.dialect.among("agent", "bigint")}`, [
    q.dialect.list(agents),
  ]);

/** One of the parts in which agents are divided by a hash of theirs: `part` from 1 to `of`. */
export interface AgentPart {
  readonly part: number;
  readonly of: number;
}

/**
 * That an agent is in a part. A hash, not the remainder alone: where several servers give numbers in turn, each gives only some
 * remainders. Its arithmetic stays within 63 bits, and engines do it alike.
 */
const inPart = (of: AgentPart | undefined): { readonly text: string; readonly values: readonly number[] } =>
  of === undefined
    ? { text: "", values: [] }
    : { text: " and (agent % 1000003) * 2654435761 / 65536 % ? = ?", values: [of.of, of.part - 1] };

/** Profiles in pages by agent: all, or those of a part. */
export function profilesAfter(q: Query, agent: number, limit: number, of?: AgentPart): Coroutine<ProfileRow[]> {
  const { text, values } = inPart(of);
  return q.rows(`select * from adbind_registry_profiles where agent > ? and gone = 0${text} order by agent limit ?`, [
    agent,
    ...values,
    limit,
  ]);
}

/** What changed after a number and is there to be seen, but for numbers that were seen before. */
export interface Since {
  readonly version: number;
  readonly seen: readonly number[];
  /** Only of its agents. */
  readonly of?: AgentPart | undefined;
}

function sinceThen(
  q: Query,
  { version, seen, of }: Since,
): { readonly text: string; readonly values: (number | ListValue)[] } {
  const { text, values } = inPart(of);
  return {
    text: `version > ? and not (${q.dialect.among("version", "bigint")})${text} order by version, agent`,
    values: [version, q.dialect.list(seen), ...values],
  };
}

export function profilesSince(q: Query, since: Since): Coroutine<ProfileRow[]> {
  const { text, values } = sinceThen(q, since);
  return q.rows(`select * from adbind_registry_profiles where ${text}`, values);
}

export function* addMoves(q: Query, rows: readonly MoveRow[], at: number): Coroutine<void> {
  if (rows.length === 0) return;
  const columns: Columns = [
    ["version", "bigint"],
    ["agent", "bigint"],
    ["before", "double precision"],
    ["born", "bigint"],
    ["at", "bigint"],
  ];
  const values = rows.map((row) => [row.version, row.agent, row.before, row.born, at]);
  yield* q.insert("adbind_registry_moves", columns, values);
}

export function movesSince(q: Query, since: Since): Coroutine<MoveRow[]> {
  const { text, values } = sinceThen(q, since);
  return q.rows(`select version, agent, before, born from adbind_registry_moves where ${text}`, values);
}

/** Forgets moves made before a time, and says on the clock how far. */
export function* pruneMoves(q: Query, before: number): Coroutine<void> {
  const [oldest] = yield* q.rows<{ at: number }>("select at from adbind_registry_moves order by version limit 1");
  if (oldest === undefined || oldest.at >= before || !(yield* takesPruning(q))) return;
  const [last] = yield* q.rows<{ version: number | null }>(
    "select max(version) as version from adbind_registry_moves where at < ?",
    [before],
  );
  if (last!.version === null) return;
  yield* q.rows("delete from adbind_registry_moves where version <= ?", [last!.version]);
  yield* noteMovesPruned(q, last!.version);
}

/** Remembers that agents' profiles wait to be computed. */
export function* markDirty(q: Query, agents: readonly number[]): Coroutine<void> {
  if (agents.length === 0) return;
  const rows = [...agents].sort((a, b) => a - b).map((agent) => [agent]);
  yield* q.insert("adbind_registry_dirty", [["agent", "bigint"]], rows, "on conflict do nothing");
}

/** Whether any profile waits. */
export function* anyDirty(q: Query): Coroutine<boolean> {
  return (yield* q.rows("select agent from adbind_registry_dirty limit 1")).length > 0;
}

/** Agents whose profiles wait. */
export function* dirtyAgents(q: Query, limit: number): Coroutine<number[]> {
  const rows = yield* q.rows<{ agent: number }>("select agent from adbind_registry_dirty order by agent limit ?", [
    limit,
  ]);
  return rows.map((row) => row.agent);
}

/** They wait no more. The agents are locked already. */
export const clearDirty = (q: Query, agents: readonly number[]): Coroutine<unknown> =>
  q.rows(`delete from adbind_registry_dirty where ${q.dialect.among("agent", "bigint")}`, [q.dialect.list(agents)]);

/** What a publisher adds to an agent's profile: all it has (`wide`), or what is covered. */
export interface ContributionRow {
  readonly agent: number;
  readonly publisher: number;
  readonly source: string;
  readonly countries: string | null;
  readonly wide: number;
  readonly covered: number;
  readonly coverage: string | null;
  readonly valid: number | null;
  readonly property_count: number;
  readonly summary: string | null;
  readonly genres: string | null;
  readonly taxonomy: string | null;
}

/** Only what publishers themselves say: a claim makes nobody rank higher. */
export const contributionsOf = (q: Query, agents: readonly number[]): Coroutine<ContributionRow[]> =>
  q.rows(
    "select a.agent, a.publisher, a.source, a.countries, a.wide, a.covered, a.coverage, p.valid, p.property_count, " +
      "case when a.wide = 1 then p.summary end as summary, p.genres, p.taxonomy " +
      "from adbind_registry_authorizations a join adbind_registry_publishers p on p.id = a.publisher " +
      `where ${q.dialect.among("a.agent", "bigint")} and a.source <> 'agent_claim' order by a.agent, a.publisher, a.source`,
    [q.dialect.list(agents)],
  );

export interface CountChange {
  readonly kind: string;
  readonly name: string;
  readonly by: number;
}

/** Adds to counts. Where transactions do not take turns each writes rows of its own, which are added up now and then. */
export function* addCounts(q: Query, changes: readonly CountChange[]): Coroutine<void> {
  const shard = q.dialect.turns ? 0 : 1 + Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1));
  // One statement changes a row once: what is counted twice is added up before.
  const rows = [...Map.groupBy(changes, ({ kind, name }) => `${kind} ${name}`).values()]
    .map((same) => ({ ...same[0]!, by: same.reduce((sum, { by }) => sum + by, 0) }))
    .filter(({ by }) => by !== 0)
    .map(({ kind, name, by }) => [kind, name, shard, by] as const)
    .sort((a, b) => (a[0] + a[1] < b[0] + b[1] ? -1 : 1));
  if (rows.length === 0) return;
  const columns: Columns = [
    ["kind", "text"],
    ["name", "text"],
    ["shard", "bigint"],
    ["count", "bigint"],
  ];
  const conflict =
    "on conflict (kind, name, shard) do update set count = adbind_registry_tallies.count + excluded.count";
  yield* q.insert("adbind_registry_tallies", columns, rows, conflict);
}

/** Adds up what transactions wrote each in rows of their own. @returns how many rows */
export function* foldCounts(q: Query): Coroutine<number> {
  if (q.dialect.turns) return 0;
  return yield* q.run(
    "with taken as (delete from adbind_registry_tallies where shard > 0 returning kind, name, count) " +
      "insert into adbind_registry_tallies (kind, name, shard, count) " +
      "select kind, name, 0, cast(sum(count) as bigint) from taken group by kind, name order by kind, name " +
      "on conflict (kind, name, shard) do update set count = adbind_registry_tallies.count + excluded.count",
  );
}

export const counts = (q: Query): Coroutine<{ kind: string; name: string; count: number }[]> =>
  q.rows(
    "select kind, name, cast(sum(count) as bigint) as count from (select kind, name, count from adbind_registry_counts " +
      "union all select kind, name, count from adbind_registry_tallies) c group by kind, name having sum(count) <> 0 order by kind, name",
  );

/**
 * Counts members' agents and verified domains again, which change seldom, and few at a time.
 */
export function* recountMembers(q: Query): Coroutine<void> {
  // One after the other, each sees what the one before has counted.
  yield* q.lock("registry members");
  for (const [kind, name, rows] of [
    ["agents", "registered", "adbind_registry_agents where member is not null"],
    ["domains", "verified", "adbind_registry_member_domains where verified = 1"],
  ] as const)
    yield* q.run(
      "insert into adbind_registry_counts (kind, name, count) values (?, ?, (select count(*) from " +
        `${rows})) on conflict (kind, name) do update set count = excluded.count`,
      [kind, name],
    );
}

export interface CheckpointRow {
  readonly lines: number;
  readonly done: number;
}

export function* checkpoint(q: Query, id: string): Coroutine<CheckpointRow | undefined> {
  const rows = yield* q.rows<CheckpointRow>("select lines, done from adbind_registry_imports where id = ?", [id]);
  return rows[0];
}

export const putCheckpoint = (q: Query, id: string, row: CheckpointRow, now: number): Coroutine<unknown> =>
  q.rows(
    "insert into adbind_registry_imports (id, lines, done, updated_at) values (?, ?, ?, ?) " +
      "on conflict (id) do update set lines = excluded.lines, done = excluded.done, updated_at = excluded.updated_at",
    [id, row.lines, row.done, now],
  );

const grown = ["publishers", "properties", "identifiers", "agents", "authorizations", "profiles", "dirty"];

/** After many rows were written at once. */
export function* analyze(q: Query): Coroutine<void> {
  yield* q.analyze(grown.map((table) => `adbind_registry_${table}`));
}
