/** Changes with what is said now, as the feed and the snapshot tell them. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query, Value } from "../db/types.js";
import type { FeedRow, SaidRow } from "./registry-feed.js";

/** A change with what is said now: null where nothing is. */
export interface ToldRow extends FeedRow {
  readonly domain: string;
  readonly url: string | null;
  readonly source: SaidRow["source"] | null;
  readonly entries: string | null;
  readonly property_count: number;
}

/** Changes in their order. */
export interface ToldRows {
  readonly rows: readonly ToldRow[];
  /** There may be others after them. */
  readonly more: boolean;
}

/** Of what is said, read at once, in bytes; with the row that exceeds it no further one is told. Anybody may say megabytes of an agent. */
const TOLD_BYTES = 8_000_000;

/**
 * Of rows chosen first, what they tell. Each is looked up by its key: joined, an engine may read all publishers, agents and
 * authorizations for each page, and one that is asked for a million changes does it five hundred times.
 * @param order of columns of these rows
 */
function told(rows: string, order: string): string {
  const about =
    "(select p.domain || ' ' || p.property_count || ' ' || coalesce(p.valid, 0) from adbind_registry_publishers p " +
    "where p.id = f.publisher)";
  // The publisher's own word is before that of a file hosted for it.
  const said = (what: string): string =>
    `(select ${what} from adbind_registry_authorizations a where a.publisher = f.publisher ` +
    "and a.agent = f.agent and a.claimant = '' and a.source <> 'agent_claim' order by a.source limit 1)";
  const bytes = `case when r.gone = 0 then coalesce(${said("octet_length(a.entries)").replaceAll("f.", "r.")}, 0) else 0 end`;
  const weighed = `select r.*, ${bytes} as bytes, ${about.replaceAll("f.", "r.")} as about from (${rows}) r`;
  const summed = `select w.*, sum(w.bytes) over (order by ${order} rows unbounded preceding) - w.bytes as before from (${weighed}) w`;
  const fits = `f.before < ${TOLD_BYTES}`;
  return (
    `select f.*, case when ${fits} then 1 else 0 end as fits, (select g.url from adbind_registry_agents g where g.id = f.agent) as url, ` +
    `case when f.gone = 0 and ${fits} then ${said("a.source || ' ' || a.entries")} end as said from (${summed}) f order by ${order}`
  );
}

interface StoredTold extends FeedRow {
  readonly bytes: number;
  readonly before: number;
  readonly fits: number;
  readonly about: string;
  readonly url: string | null;
  readonly said: string | null;
}

function toldRow({ about, said, bytes: _, before: __, fits: ___, ...row }: StoredTold): ToldRow {
  const [domain, count, valid] = about.split(" ");
  const common = { ...row, domain: domain!, property_count: Number(count) };
  const at = said?.indexOf(" ") ?? 0;
  const source = said === null ? null : (said.slice(0, at) as SaidRow["source"]);
  // As `standing` has it: a hosted file gives way to a valid one of the publisher's own.
  if (said === null || (source === "aao_hosted" && valid === "1")) return { ...common, source: null, entries: null };
  return { ...common, source, entries: said.slice(at + 1) };
}

function* toldRows(q: Query, text: string, values: readonly Value[], limit: number): Coroutine<ToldRows> {
  const found = yield* q.rows<StoredTold>(text, values);
  const fitting = found.filter(({ fits }) => fits === 1);
  return { rows: fitting.map(toldRow), more: found.length === limit || fitting.length < found.length };
}

interface FeedAfter {
  readonly seq: number;
  readonly position: number;
  /** Newest clock wanted. */
  readonly until: number;
  readonly limit: number;
}

/** Changes after a place, in their order. */
export const feedAfter = (q: Query, { seq, position, until, limit }: FeedAfter): Coroutine<ToldRows> => {
  const rows =
    "select * from adbind_registry_feed where (seq, position) > (?, ?) and seq <= ? order by seq, position limit ?";
  return toldRows(q, told(rows, "seq, position"), [seq, position, until, limit], limit);
};

/** What stands, of all pairs after a place, by publisher and agent. */
export const standingAfter = (
  q: Query,
  { publisher, agent, limit }: { readonly publisher: number; readonly agent: number; readonly limit: number },
): Coroutine<ToldRows> => {
  const rows =
    "select * from adbind_registry_feed where (publisher, agent) > (?, ?) and gone = 0 and agent <> 0 " +
    "order by publisher, agent limit ?";
  return toldRows(q, told(rows, "publisher, agent"), [publisher, agent, limit], limit);
};

/**
 * What publishers say of one agent, that stands, by domain.
 * @param skipped so many of the first were told before
 */
export const standingOf = (
  q: Query,
  { agent, skipped, limit }: { readonly agent: number; readonly skipped: number; readonly limit: number },
): Coroutine<ToldRows> => {
  const rows =
    "select x.* from adbind_registry_feed x where x.gone = 0 and x.agent = ? and x.publisher in " +
    "(select publisher from adbind_registry_authorizations where agent = ? and source <> 'agent_claim')";
  const byDomain = `select x.*, p.domain from (${rows} order by x.publisher limit ?) x join adbind_registry_publishers p on p.id = x.publisher order by p.domain limit ? offset ?`;
  return toldRows(q, told(byDomain, "domain"), [agent, agent, limit, limit, skipped], limit - skipped);
};
