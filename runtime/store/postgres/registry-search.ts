/**
 * The search's index as a table, for registries that rather grow their database than their processes: a row an agent,
 * partitioned by a hash of the agent, found by its values or walked in the order of the ranking. Whoever computes a profile keeps
 * its row, from when it is switched on.
 */
import type { Coroutine } from "../../db/coroutine.js";
import type { ListValue, Query, Value } from "../../db/types.js";
import type { ProfileRow } from "../profile-row.js";

/** 0: not kept. 1: kept from now on, and what was there before is being written. 2: complete. */
export type SearchState = 0 | 1 | 2;

export function* searchState(q: Query): Coroutine<SearchState> {
  return (yield* q.rows<{ searched: SearchState }>("select searched from adbind_registry_clock where id = 1"))[0]!
    .searched;
}

export const setSearchState = (q: Query, state: SearchState): Coroutine<unknown> =>
  q.rows("update adbind_registry_clock set searched = ? where id = 1 and searched <> ?", [state, state]);

/** How a value of a dimension is written: no value has a control character. */
export const tokenOf = (dimension: number, value: string): string => `${dimension}:${value}`;
const SEPARATOR = "\u0001";

const tokensOf = ({ lists }: ProfileRow): string =>
  (JSON.parse(lists) as string[][])
    .flatMap((list, dimension) => list.map((value) => tokenOf(dimension, value)))
    .join(SEPARATOR);

const columns = [
  ["agent", "bigint", (row: ProfileRow) => row.agent],
  ["url", "text", (row: ProfileRow) => row.url],
  ["registered", "bigint", (row: ProfileRow) => row.registered],
  ["score", "double precision", (row: ProfileRow) => row.score],
  ["property_count", "bigint", (row: ProfileRow) => row.property_count],
  ["has_tmp", "bigint", (row: ProfileRow) => row.has_tmp],
  ["born", "bigint", (row: ProfileRow) => row.born],
  ["version", "bigint", (row: ProfileRow) => row.version],
  ["gone", "bigint", (row: ProfileRow) => row.gone],
  ["tokens", "text", tokensOf],
] as const;

const NAMES = columns.map(([name]) => name);
const PUT =
  `insert into adbind_registry_search (${NAMES.join(", ")}) select ` +
  `${NAMES.map((name) => (name === "tokens" ? `string_to_array(tokens, '${SEPARATOR}')` : name)).join(", ")} ` +
  `from unnest(${columns.map(([, type]) => `?::${type}[]`).join(", ")}) as r (${NAMES.join(", ")}) ` +
  `on conflict (agent) do update set ${NAMES.slice(1)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")} where adbind_registry_search.version < excluded.version`;

/** Keeps profiles' rows, where they are newer than what is there. */
export function* putSearchRows(q: Query, rows: readonly ProfileRow[]): Coroutine<void> {
  if (rows.length === 0) return;
  yield* q.run(
    PUT,
    columns.map(([, , of]) => q.dialect.list(rows.map((row): Value => of(row)))),
  );
}

/** What is looked for. */
export interface SearchCondition {
  /** By dimension: any of these. */
  readonly tokens: readonly (readonly string[])[];
  readonly hasTmp: boolean;
  /** Only agents that members registered. */
  readonly registered: boolean;
  readonly leastProperties: number;
  /** No agent with enough properties has a lower score. */
  readonly leastScore: number;
}

interface Part {
  readonly text: string;
  readonly values: readonly (Value | ListValue)[];
}

const conditionOf = (q: Query, given: SearchCondition): Part => {
  const conditions = given.tokens.map(
    (tokens): Part => ({ text: "s.tokens && ?::text[]", values: [q.dialect.list(tokens)] }),
  );
  if (given.hasTmp) conditions.push({ text: "s.has_tmp = 1", values: [] });
  if (given.registered) conditions.push({ text: "s.registered = 1", values: [] });
  if (given.leastProperties > 0) conditions.push({ text: "s.property_count >= ?", values: [given.leastProperties] });
  return {
    text: ["s.gone = 0", ...conditions.map(({ text }) => text)].join(" and "),
    values: conditions.flatMap(({ values }) => values),
  };
};

export interface SearchPlace {
  /** Clock at which the traversal began. */
  readonly seq: number;
  /** Undefined: from the beginning. */
  readonly after: { readonly score: number; readonly url: string } | undefined;
  readonly limit: number;
}

/** A profile and its place in the traversal. */
export type FoundRow = ProfileRow & { readonly place: number };

/**
 * The next agents of a traversal, as it was when it began: who moved since stands at its old place, who came since is not in
 * it. One statement, and so one state of the database.
 */
export function searchRows(
  q: Query,
  wanted: SearchCondition,
  { seq, after, limit }: SearchPlace,
): Coroutine<FoundRow[]> {
  const condition = conditionOf(q, wanted);
  const behind = (score: string): Part =>
    after === undefined
      ? { text: "", values: [] }
      : {
          text: ` and ${score} <= ? and (${score} < ? or s.url > ?)`,
          values: [after.score, after.score, after.url],
        };
  const [still, moved] = [behind("s.score"), behind("m.before")];
  const enough: Part =
    wanted.leastProperties > 0 ? { text: " and s.score >= ?", values: [wanted.leastScore] } : { text: "", values: [] };
  const text =
    "with moved as materialized (select m.agent, m.before, m.born from adbind_registry_moves m join (select agent, min(version) as " +
    "version from adbind_registry_moves where version > ? group by agent) f on f.agent = m.agent and f.version = m.version) " +
    "select p.*, x.place from (select * from ((select s.agent, s.url, s.score as place from adbind_registry_search s " +
    `where ${condition.text} and s.born <= ? and s.agent not in (select agent from moved)${still.text}${enough.text} ` +
    "order by s.score desc, s.url limit ?) union all (select s.agent, s.url, m.before as place from moved m " +
    `join adbind_registry_search s on s.agent = m.agent where ${condition.text} and m.born <= ?${moved.text})) u ` +
    "order by place desc, url limit ?) x join adbind_registry_profiles p on p.agent = x.agent order by x.place desc, x.url";
  return q.rows(text, [
    ...[seq, ...condition.values, seq, ...still.values, ...enough.values, limit],
    ...[...condition.values, seq, ...moved.values, limit],
  ]);
}

/** How many agents meet a condition, and how many of them have trusted match; of the first `limit` that were looked at. */
export function* searchCount(
  q: Query,
  wanted: SearchCondition,
  limit: number,
): Coroutine<{ readonly total: number; readonly tmp: number }> {
  const { text, values } = conditionOf(q, wanted);
  const [row] = yield* q.rows<{ total: number; tmp: number }>(
    "select count(*) as total, coalesce(sum(has_tmp), 0)::bigint as tmp from " +
      `(select s.has_tmp from adbind_registry_search s where ${text} limit ?) c`,
    [...values, limit],
  );
  return row!;
}

/** Values of a dimension with how many agents that meet a condition have them, the most first. */
export const searchValues = (
  q: Query,
  wanted: SearchCondition,
  { dimension, rows, limit }: { readonly dimension: number; readonly rows: number; readonly limit: number },
): Coroutine<{ readonly value: string; readonly count: number }[]> => {
  const { text, values } = conditionOf(q, wanted);
  const prefix = tokenOf(dimension, "");
  return q.rows(
    `select substr(t.token, ${prefix.length + 1}) as value, count(*) as count from (select s.tokens from adbind_registry_search s ` +
      `where ${text} limit ?) c cross join lateral unnest(c.tokens) as t (token) where t.token like '${prefix}%' ` +
      'group by t.token order by count(*) desc, t.token collate "C" limit ?',
    [...values, rows, limit],
  );
};

/** Agents that have a value of one dimension and one of another. */
export const searchPairs = (
  q: Query,
  wanted: SearchCondition,
  { rows, of }: { readonly rows: number; readonly of: readonly [number, number] },
): Coroutine<{ readonly a: string; readonly b: string; readonly count: number }[]> => {
  const { text, values } = conditionOf(q, wanted);
  const [a, b] = of.map((dimension) => tokenOf(dimension, "")) as [string, string];
  return q.rows(
    `select substr(t.token, ${a.length + 1}) as a, substr(o.token, ${b.length + 1}) as b, count(*) as count from (select s.tokens ` +
      `from adbind_registry_search s where ${text} limit ?) c cross join lateral unnest(c.tokens) as t (token) ` +
      "cross join lateral unnest(c.tokens) as o (token) " +
      `where t.token like '${a}%' and o.token like '${b}%' group by t.token, o.token`,
    [...values, rows],
  );
};

/** The mark as copies of the database have it: all changes up to it were there before it was. */
export const tellMark = (q: Query, mark: number): Coroutine<unknown> =>
  q.rows("update adbind_registry_clock set settled = ? where id = 1 and settled < ?", [mark, mark]);

export function* toldMark(q: Query): Coroutine<{ readonly seq: number; readonly pruned: number }> {
  const text = "select settled as seq, pruned from adbind_registry_clock where id = 1";
  return (yield* q.rows<{ seq: number; pruned: number }>(text))[0]!;
}
