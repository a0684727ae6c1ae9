/** Publishers with their properties and authorizations, as rows. */
import type { Coroutine } from "../db/coroutine.js";
import type { Columns, Query, Value } from "../db/types.js";

/** Where a property was learned from; also a set that is replaced as a whole. */
export type PropertySource = "adagents_json" | "aao_hosted" | "discovered" | "brand_json";
export type EdgeSource = "adagents_json" | "aao_hosted" | "agent_claim";

export interface PublisherRow {
  readonly id: number;
  readonly domain: string;
  readonly valid: number | null;
  /** Of the last fetch. */
  readonly outcome: string | null;
  readonly method: string | null;
  readonly manager_domain: string | null;
  readonly crawled_at: number | null;
  readonly validated_at: number | null;
  readonly http_status: number | null;
  readonly bytes: number | null;
  readonly resolved_url: string | null;
  readonly problems: string | null;
  readonly brand_outcome: string | null;
  readonly brand_name: string | null;
  /** JSON: the agents its brand file names. */
  readonly brand_agents: string | null;
  readonly genres: string | null;
  readonly taxonomy: string | null;
  readonly property_count: number;
  readonly summary: string | null;
  /** JSON: source -> digest of its set. */
  readonly digests: string | null;
  /** Properties of its file, where those are more than are kept. */
  readonly properties_declared: number | null;
  /** Its brand's name in lower case. */
  readonly brand_key: string | null;
  /** JSON: how the properties of its own file changed last. */
  readonly last_change: string | null;
}

export interface PropertyRow {
  readonly publisher: number;
  readonly source: PropertySource;
  readonly key: string;
  readonly position: number;
  readonly slug: string | null;
  readonly type: string;
  readonly name: string;
  /** JSON: `[[type, value], ...]`. */
  readonly identifiers: string;
  readonly tags: string;
  readonly channels: string | null;
  readonly delegation: string | null;
}

export interface EdgeRow {
  readonly publisher: number;
  readonly source: EdgeSource;
  readonly agent: number;
  /** Who claims it, for claims; empty otherwise. */
  readonly claimant: string;
  readonly position: number;
  readonly authorized_for: string | null;
  /** JSON: the entries of the file. */
  readonly entries: string;
  readonly countries: string | null;
  /** Covers all the publisher has. */
  readonly wide: number;
  /** Properties covered; for wide ones the publisher's count holds instead. */
  readonly covered: number;
  /** What the covered properties add to a profile; null for wide ones. */
  readonly coverage: string | null;
  /** When an entry begins or ceases to be in effect next, in unix milliseconds; null where none will. */
  readonly changes_at: number | null;
}

const propertyColumns: Columns = [
  ["publisher", "bigint"],
  ["source", "text"],
  ["key", "text"],
  ["position", "bigint"],
  ["slug", "text"],
  ["type", "text"],
  ["name", "text"],
  ["identifiers", "text"],
  ["tags", "text"],
  ["channels", "text"],
  ["delegation", "text"],
];

const edgeColumns: Columns = [
  ["publisher", "bigint"],
  ["source", "text"],
  ["agent", "bigint"],
  ["claimant", "text"],
  ["position", "bigint"],
  ["authorized_for", "text"],
  ["entries", "text"],
  ["countries", "text"],
  ["wide", "bigint"],
  ["covered", "bigint"],
  ["coverage", "text"],
  ["changes_at", "bigint"],
];

const identifierColumns: Columns = [
  ["value", "text"],
  ["type", "text"],
  ["publisher", "bigint"],
  ["source", "text"],
  ["key", "text"],
];

const factColumns: Columns = [
  ["domain", "text"],
  ["valid", "bigint"],
  ["outcome", "text"],
  ["method", "text"],
  ["manager_domain", "text"],
  ["crawled_at", "bigint"],
  ["validated_at", "bigint"],
  ["http_status", "bigint"],
  ["bytes", "bigint"],
  ["resolved_url", "text"],
  ["problems", "text"],
  ["brand_outcome", "text"],
  ["brand_name", "text"],
  ["brand_agents", "text"],
  ["genres", "text"],
  ["taxonomy", "text"],
  ["property_count", "bigint"],
  ["summary", "text"],
  ["digests", "text"],
  ["properties_declared", "bigint"],
  ["brand_key", "text"],
  ["last_change", "text"],
];

/** Longest identifier looked up by value, in characters (openapi.yaml). */
const IDENTIFIER_LIMIT = 512;
/**
 * What a property is found by, in bytes of value, type and key together: an index row of PostgreSQL has 2,704 with all else. One of a
 * longer name in a script of three bytes a letter would keep its whole file from being written.
 */
const INDEXED_BYTES = 2_600;

const valuesOf = <Row>(columns: Columns, row: Row): Value[] => columns.map(([name]) => row[name as keyof Row] as Value);

const identifiersOf = (row: Pick<PropertyRow, "identifiers">): [type: string, value: string][] =>
  JSON.parse(row.identifiers) as [string, string][];

/** What a property can be found by: each value once, without its case. */
function identifierRows(row: PropertyRow): Value[][] {
  const found = new Map<string, Value[]>();
  for (const [type, given] of identifiersOf(row)) {
    const value = given.trim().toLowerCase();
    const short = value.length <= IDENTIFIER_LIMIT && type.length <= IDENTIFIER_LIMIT;
    if (short && Buffer.byteLength(value + type + row.key) <= INDEXED_BYTES)
      found.set(`${type.length} ${type} ${value}`, [value, type, row.publisher, row.source, row.key]);
  }
  return [...found.values()];
}

/** Under this name those who make publishers are waited for by who must know of all there are. */
const MAKING = "registry publishers";

/**
 * Waits for whoever makes publishers that nobody else can see yet: those who begin to afterwards see what was committed before this.
 * In a transaction of its own, which holds nothing that they may wait for.
 */
export const awaitNewPublishers = (q: Query): Coroutine<void> => q.lock(MAKING);

/**
 * The publishers of these domains, made where missing, and locked until the transaction ends.
 * @param domains distinct and sorted, so that two transactions never wait for each other crosswise
 */
export function* lockPublishers(q: Query, domains: readonly string[]): Coroutine<Map<string, PublisherRow>> {
  const list = q.dialect.list(domains);
  const where = `where ${q.dialect.among("domain", "text")}`;
  const find = `select * from adbind_registry_publishers ${where} order by domain${q.dialect.forUpdate}`;
  const makeMissing = function* (known: readonly Pick<PublisherRow, "domain">[]): Coroutine<void> {
    if (known.length === domains.length) return;
    const there = new Set(known.map(({ domain }) => domain));
    const fresh = domains.filter((domain) => !there.has(domain)).map((domain) => [domain]);
    yield* q.share(MAKING);
    yield* q.insert("adbind_registry_publishers", [["domain", "text"]], fresh, "on conflict do nothing");
  };
  // Made before any is locked: somebody else may be making one of them, who waits for one that would be held already.
  if (domains.length > 1)
    yield* makeMissing(yield* q.rows<PublisherRow>(`select domain from adbind_registry_publishers ${where}`, [list]));
  let rows = yield* q.rows<PublisherRow>(find, [list]);
  // One that nobody named any more may have been removed meanwhile.
  while (rows.length < domains.length) {
    yield* makeMissing(rows);
    rows = yield* q.rows<PublisherRow>(find, [list]);
  }
  return new Map(rows.map((row) => [row.domain, row]));
}

export function* updatePublishers(q: Query, rows: readonly PublisherRow[]): Coroutine<void> {
  const set = factColumns.slice(1).map(([name]) => `${name} = excluded.${name}`);
  const conflict = `on conflict (domain) do update set ${set.join(", ")}`;
  yield* q.insert(
    "adbind_registry_publishers",
    factColumns,
    rows.map((row) => valuesOf(factColumns, row)),
    conflict,
  );
}

/** What is removed of a set: for the counters, and for the agents it named. */
export interface RemovedSet {
  readonly properties: readonly Pick<PropertyRow, "publisher" | "key" | "type" | "identifiers">[];
  readonly agents: readonly Pick<EdgeRow, "publisher" | "agent">[];
}

/** Removes the sets of one source of some publishers. */
export function* removeSets(q: Query, source: PropertySource, publishers: readonly number[]): Coroutine<RemovedSet> {
  const where = `source = ? and ${q.dialect.among("publisher", "bigint")}`;
  const list = q.dialect.list(publishers);
  const properties = yield* q.rows<PropertyRow>(
    `select publisher, source, key, type, identifiers from adbind_registry_properties where ${where}`,
    [source, list],
  );
  if (properties.length > 0) {
    const gone = properties.flatMap(identifierRows);
    yield* q.remove("adbind_registry_identifiers", identifierColumns, gone);
    yield* q.rows(`delete from adbind_registry_properties where ${where}`, [source, list]);
  }
  const agents = yield* q.rows<EdgeRow>(
    `delete from adbind_registry_authorizations where ${where} returning publisher, agent`,
    [source, list],
  );
  return { properties, agents };
}

/** @param brand rows of the brand file have no identifiers to look up: nobody is authorized for them one by one */
export function* addProperties(q: Query, rows: readonly PropertyRow[]): Coroutine<void> {
  if (rows.length === 0) return;
  const values = rows.map((row) => valuesOf(propertyColumns, row));
  yield* q.insert("adbind_registry_properties", propertyColumns, values);
  const identifiers = rows.filter((row) => row.source !== "brand_json").flatMap(identifierRows);
  // None is there yet: they come and go with the property, which is new. To look first costs PostgreSQL as much again.
  yield* q.insert("adbind_registry_identifiers", identifierColumns, identifiers);
}

export function* addEdges(q: Query, rows: readonly EdgeRow[]): Coroutine<void> {
  if (rows.length === 0) return;
  const conflict =
    "on conflict (publisher, source, agent, claimant) do update set position = excluded.position, " +
    "authorized_for = excluded.authorized_for, entries = excluded.entries, countries = excluded.countries, " +
    "wide = excluded.wide, covered = excluded.covered, coverage = excluded.coverage, changes_at = excluded.changes_at";
  const values = rows.map((row) => valuesOf(edgeColumns, row));
  yield* q.insert("adbind_registry_authorizations", edgeColumns, values, conflict);
}

/** Removes all that a claimant said; answers the pairs. */
export const removeClaims = (
  q: Query,
  claimants: readonly string[],
): Coroutine<{ publisher: number; agent: number }[]> =>
  q.rows(
    `delete from adbind_registry_authorizations where claimant <> '' and ${q.dialect.among("claimant", "text")} returning publisher, agent`,
    [q.dialect.list(claimants)],
  );

/** Agents that a publisher itself names, or that its hosted file does. */
export function* agentsAt(q: Query, publishers: readonly number[]): Coroutine<number[]> {
  if (publishers.length === 0) return [];
  const rows = yield* q.rows<{ agent: number }>(
    `select distinct agent from adbind_registry_authorizations where ${q.dialect.among("publisher", "bigint")} and source <> 'agent_claim'`,
    [q.dialect.list(publishers)],
  );
  return rows.map(({ agent }) => agent);
}
