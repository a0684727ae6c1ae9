/** What agents said when they were asked, as rows. Times are unix milliseconds. */
import type { Coroutine } from "../db/coroutine.js";
import type { Columns, Query, Value } from "../db/types.js";

export interface ProbeRow {
  readonly agent: number;
  /** Registrable domain the agent is under. */
  readonly owner: string;
  readonly online: number | null;
  /** Null: it was never asked. */
  readonly probed_at: number | null;
  readonly response_ms: number | null;
  /** When it was online last. */
  readonly last_seen: number | null;
  readonly transport: string | null;
  /** JSON: names of its tools. */
  readonly tools: string | null;
  readonly tools_count: number | null;
  /** JSON: what it says it can do. */
  readonly capabilities: string | null;
  readonly error: string | null;
  /** Times in a row that it was not online. */
  readonly misses: number;
  readonly next_at: number;
}

/** Whom everybody may see: agents that members show, and those of no member that publishers authorize. */
const shown =
  "((g.member is not null and g.visibility = 'public') or (g.member is null and exists " +
  "(select 1 from adbind_registry_profiles p where p.agent = g.id and p.gone = 0)))";

/** Numbers of agents in a window that everybody may see and nobody has asked yet. */
export const unprobed = (
  q: Query,
  after: number,
  until: number,
): Coroutine<{ id: number; url: string; member: number | null }[]> =>
  q.rows(
    `select g.id, g.url, g.member from adbind_registry_agents g where g.id > ? and g.id <= ? and ${shown} ` +
      "and not exists (select 1 from adbind_registry_probes b where b.agent = g.id) order by g.id",
    [after, until],
  );

export function* lastAgent(q: Query): Coroutine<number> {
  return (yield* q.rows<{ id: number | null }>("select max(id) as id from adbind_registry_agents"))[0]!.id ?? 0;
}

/** How many agents are asked of each owner. */
export const probesByOwner = (q: Query, owners: readonly string[]): Coroutine<{ owner: string; n: number }[]> =>
  q.rows(
    `select owner, count(*) as n from adbind_registry_probes where ${q.dialect.among("owner", "text")} group by owner`,
    [q.dialect.list(owners)],
  );

const columns: Columns = [
  ["agent", "bigint"],
  ["owner", "text"],
  ["online", "bigint"],
  ["probed_at", "bigint"],
  ["response_ms", "bigint"],
  ["last_seen", "bigint"],
  ["transport", "text"],
  ["tools", "text"],
  ["tools_count", "bigint"],
  ["capabilities", "text"],
  ["error", "text"],
  ["misses", "bigint"],
  ["next_at", "bigint"],
];

/** Puts what agents said in place of what they said before. */
export function* putProbes(q: Query, rows: readonly ProbeRow[]): Coroutine<void> {
  if (rows.length === 0) return;
  const set = columns.slice(1).map(([name]) => `${name} = excluded.${name}`);
  const values = rows.map((row) => columns.map(([name]) => row[name as keyof ProbeRow] as Value));
  yield* q.insert("adbind_registry_probes", columns, values, `on conflict (agent) do update set ${set.join(", ")}`);
}

/** Agents that wait for longer than any does, put off by a clock that was ahead and has been set back, are due now. */
export const probesTooLate = (q: Query, latest: number, now: number): Coroutine<unknown> =>
  q.rows("update adbind_registry_probes set next_at = ? where next_at > ?", [now, latest]);

/** Those whose time has come, longest overdue first; `shown` 0 for whom nobody may see any more. */
export const dueProbes = (
  q: Query,
  now: number,
  limit: number,
): Coroutine<(ProbeRow & { readonly url: string; readonly shown: number })[]> =>
  q.rows(
    `select b.*, g.url, case when ${shown} then 1 else 0 end as shown from adbind_registry_probes b ` +
      "join adbind_registry_agents g on g.id = b.agent where b.next_at <= ? order by b.next_at limit ?",
    [now, limit],
  );

export const removeProbes = (q: Query, agents: readonly number[]): Coroutine<unknown> =>
  q.rows(`delete from adbind_registry_probes where ${q.dialect.among("agent", "bigint")}`, [q.dialect.list(agents)]);

/** What agents said last; those that were never asked are left out. */
export const probesOf = (q: Query, agents: readonly number[]): Coroutine<ProbeRow[]> =>
  q.rows(`select * from adbind_registry_probes where ${q.dialect.among("agent", "bigint")} and probed_at is not null`, [
    q.dialect.list(agents),
  ]);
