/** Publishers and agents that are there because somebody named them, and go when nobody does any more. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { NUMBERED_AGENTS } from "./registry-agents.js";

/** Nothing is known of a publisher but that somebody named it. */
const ONLY_NAMED =
  "crawled_at is null and valid is null and outcome is null and digests is null and brand_outcome is null and problems is null";
/** And who names it does so in one of these; their rows have its number. */
const NAMING = ["adbind_registry_authorizations", "adbind_registry_properties", "adbind_registry_feed"];

/**
 * Removes those of some publishers that others named, and that nobody names any more: anybody may name any number. Nobody is waited
 * for, since claims are removed in no order of publishers: one that somebody else is writing stays.
 * @param named need not be looked at: somebody names them
 */
export function* removeUnnamed(
  q: Query,
  ids: Iterable<number>,
  named: ReadonlySet<number> = new Set(),
): Coroutine<void> {
  const maybe = [...new Set(ids)].filter((id) => !named.has(id));
  if (maybe.length === 0) return;
  const free = yield* q.rows<{ id: number }>(
    `select id from adbind_registry_publishers where ${q.dialect.among("id", "bigint")} and ${ONLY_NAMED}${q.dialect.forUpdateFree}`,
    [q.dialect.list(maybe)],
  );
  if (free.length === 0) return;
  // Looked at behind the locks: whoever had one meanwhile may have named it.
  const unnamed = NAMING.map((table) => `not exists (select 1 from ${table} n where n.publisher = p.id)`).join(" and ");
  yield* q.run(
    `delete from adbind_registry_publishers where id in (select p.id from adbind_registry_publishers p where ${q.dialect.among("p.id", "bigint")} ` +
      `and ${unnamed})`,
    [q.dialect.list(free.map(({ id }) => id))],
  );
}

/** Those of some publishers, by their numbers, of which nothing is known but that they were named. */
export function* onlyNamedAfter(q: Query, after: number, limit: number): Coroutine<number[]> {
  const page = "select * from adbind_registry_publishers where id > ? order by id limit ?";
  const rows = yield* q.rows<{ id: number }>(`select id from (${page}) as page where ${ONLY_NAMED}`, [after, limit]);
  return rows.map(({ id }) => id);
}

/** What is known of an agent stands in these, by its number. */
const OF_AGENTS = [
  "adbind_registry_authorizations",
  "adbind_registry_profiles",
  "adbind_registry_dirty",
  "adbind_registry_probes",
];

/**
 * Those of some agents whom nobody authorizes that the feed still tells of, as let go. Not all that it tells of ever had a profile: who
 * belongs to a member that does not show him has none.
 */
function* toldAsGone(q: Query, agents: readonly number[]): Coroutine<Set<number>> {
  const text = `select distinct agent from adbind_registry_feed where gone = 1 and ${q.dialect.among("agent", "bigint")}`;
  const rows = yield* q.rows<{ agent: number }>(text, [q.dialect.list(agents)]);
  return new Set(rows.map(({ agent }) => agent));
}

/**
 * Removes those of a window of agents that are nobody's, and that nobody names any more: anybody may name any number, and claim to be
 * any. Where somebody writes who goes by agents' numbers, none is.
 * @param after the number before the window
 * @returns how many
 */
export function* removeUnnamedAgents(
  q: Query,
  { after, limit }: { readonly after: number; readonly limit: number },
): Coroutine<number> {
  if (!(yield* q.tryLock(NUMBERED_AGENTS))) return 0;
  const unnamed = OF_AGENTS.map((table) => `not exists (select 1 from ${table} n where n.agent = g.id)`).join(" and ");
  const found = yield* q.rows<{ id: number }>(
    `select g.id from adbind_registry_agents g where g.id > ? and g.id <= ? and g.member is null and ${unnamed}` +
      q.dialect.forUpdateFree,
    [after, after + limit],
  );
  if (found.length === 0) return 0;
  const ids = found.map(({ id }) => id);
  // For these alone: the feed has no index by agent, and only what is gone is gone through.
  const told = yield* toldAsGone(q, ids);
  const among = q.dialect.among("id", "bigint");
  return yield* q.run(`delete from adbind_registry_agents where ${among}`, [
    q.dialect.list(ids.filter((id) => !told.has(id))),
  ]);
}
