/** The one way publishers are written: crawls, hosted files and imports all end here. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { ensureAgents } from "../store/registry-agents.js";
import { propertiesOf } from "../store/registry-lookups.js";
import { optedOutAmong } from "../store/registry-opt-outs.js";
import type { CountChange } from "../store/registry-profiles.js";
import {
  addEdges,
  addProperties,
  agentsAt,
  type EdgeRow,
  lockPublishers,
  type PropertyRow,
  type PropertySource,
  type PublisherRow,
  type RemovedSet,
  removeClaims,
  removeSets,
  updatePublishers,
} from "../store/registry-publishers.js";
import { removeUnnamed } from "../store/registry-unnamed.js";
import { contributionOf } from "./contribution.js";
import { keyedProperties, type SetProperty } from "./matching.js";
import { byCodePoint } from "./model.js";
import { isOutdated, type PreparedChange, type PreparedSet, withoutFetched } from "./prepared.js";
import { digestOf, effective, type ProjectedEdge, projectEdges, propertyOfRow } from "./project.js";
import { propertyChange } from "./publisher-pages.js";

export interface Written {
  /** Domains whose sets were not as before. */
  readonly changed: ReadonlySet<string>;
  /** Numbers of publishers whose properties, authorizations or standing are not as before. */
  readonly publishers: readonly number[];
  readonly properties: number;
  readonly authorizations: number;
  /** Agents whose profiles are to be computed again. */
  readonly agents: readonly number[];
  /** Changes of the counters, to be made after the clock is locked. */
  readonly counts: readonly CountChange[];
  /** Domains that were crawled since what was to be written was fetched: what the crawl found stays. */
  readonly outdated: ReadonlySet<string>;
}

/** Sets of a change that differ from what is stored. */
interface Replaced {
  readonly row: PublisherRow;
  readonly change: PreparedChange;
  readonly sets: readonly PreparedSet[];
  readonly digests: Record<string, string>;
  readonly claimsChanged: boolean;
}

function replacedSets(change: PreparedChange, row: PublisherRow): Replaced {
  const before = JSON.parse(row.digests ?? "{}") as Record<string, string>;
  const digests = { ...before };
  const sets = change.sets.filter(({ source, digest }) => digest !== before[source]);
  for (const { source, digest } of sets) {
    if (digest === undefined) delete digests[source];
    else digests[source] = digest;
  }
  const others = change.others === undefined || change.others.length === 0 ? undefined : change.others;
  const claims = others && digestOf({ properties: [], agents: others.map(({ agent }) => agent) }, others, change.now);
  const claimsChanged = change.others !== undefined && claims !== before.others;
  if (claimsChanged && claims === undefined) delete digests.others;
  else if (claims !== undefined) digests.others = claims;
  return { row, change, sets, digests, claimsChanged };
}

class Tally {
  readonly #counts = new Map<string, CountChange>();

  add(kind: string, name: string, by: number): void {
    const key = `${kind} ${name}`;
    this.#counts.set(key, { kind, name, by: (this.#counts.get(key)?.by ?? 0) + by });
  }

  get changes(): CountChange[] {
    return [...this.#counts.values()];
  }
}

interface Cleared {
  /** Agents that were named. */
  readonly agents: Set<number>;
  /** What publishers' own files declared. */
  readonly own: RemovedSet["properties"];
  /** Publishers of which something was claimed. */
  readonly claimed: readonly number[];
}

/** Removes what replaced sets said before; counts it. */
function* clear(q: Query, replaced: readonly Replaced[], tally: Tally): Coroutine<Cleared> {
  const agents = new Set<number>();
  let own: RemovedSet["properties"] = [];
  let claimed: number[] = [];
  const bySource = new Map<PropertySource, number[]>();
  for (const { row, sets } of replaced) {
    const before = JSON.parse(row.digests ?? "{}") as Record<string, string>;
    for (const { source } of sets)
      if (before[source] !== undefined) bySource.set(source, [...(bySource.get(source) ?? []), row.id]);
  }
  for (const [source, publishers] of bySource) {
    const removed = yield* removeSets(q, source, publishers);
    for (const { type } of removed.properties) if (source !== "brand_json") tally.add("properties", type, -1);
    for (const { agent } of removed.agents) agents.add(agent);
    if (source === "adagents_json") own = removed.properties;
    tally.add("authorizations", source, -removed.agents.length);
  }
  const claimants = replaced.filter(({ claimsChanged }) => claimsChanged).map(({ change }) => change.domain);
  if (claimants.length > 0) {
    const claims = yield* removeClaims(q, claimants);
    tally.add("authorizations", "agent_claim", -claims.length);
    claimed = claims.map(({ publisher }) => publisher);
  }
  return { agents, own, claimed };
}

interface Projection {
  readonly properties: PropertyRow[];
  readonly edges: (ProjectedEdge & { readonly publisher: number })[];
}

function project(replaced: readonly Replaced[], rows: ReadonlyMap<string, PublisherRow>): Projection {
  const properties: PropertyRow[] = [];
  const edges: Projection["edges"] = [];
  for (const { row, change, sets, claimsChanged } of replaced) {
    for (const set of sets) {
      for (const property of set.properties) properties.push({ ...property, publisher: row.id });
      for (const edge of set.edges) edges.push({ ...edge, publisher: row.id });
    }
    if (!claimsChanged) continue;
    const byDomain = Map.groupBy(change.others ?? [], ({ publisherDomain }) => publisherDomain);
    for (const [domain, others] of byDomain) {
      const claimed = { properties: [], agents: others.map(({ agent }) => agent) };
      for (const edge of projectEdges(claimed, { source: "agent_claim", claimant: change.domain, now: change.now }))
        edges.push({ ...edge, publisher: rows.get(domain)!.id });
    }
  }
  return { properties, edges };
}

/** How the properties of the publisher's own file changed; nothing where they are as they were. */
function lastChange(
  { now }: PreparedChange,
  sets: readonly PreparedSet[],
  before: RemovedSet["properties"],
): Partial<Pick<PublisherRow, "last_change">> {
  const set = sets.find(({ source }) => source === "adagents_json");
  const change = set === undefined ? undefined : propertyChange(before, set.properties, now);
  return change === undefined ? {} : { last_change: JSON.stringify(change) };
}

/** The publisher's row after the change; `kept` are properties of sources that did not change. */
function changedRow(
  { row, change, sets, digests }: Replaced,
  kept: readonly PropertyRow[],
  own: RemovedSet["properties"],
): PublisherRow {
  const next = { ...row, ...change.facts(row), digests: JSON.stringify(digests), ...lastChange(change, sets, own) };
  const all: { source: PropertySource; property: SetProperty }[] = [
    ...kept.map((one) => ({ source: one.source, property: propertyOfRow(one) })),
    ...sets.flatMap(({ source, set }) => [...keyedProperties(set).values()].map((property) => ({ source, property }))),
  ];
  const counting = effective(all, next.valid === 1, ({ property }) => property).map(({ property }) => property);
  const speaks = next.valid === 1 ? "adagents_json" : "aao_hosted";
  const spoken = sets.find(({ source }) => source === speaks)?.set;
  const genres = spoken?.genres;
  const categories = genres !== undefined && {
    genres: genres.length === 0 ? null : JSON.stringify(genres),
    taxonomy: spoken?.taxonomy ?? null,
  };
  return { ...next, ...categories, property_count: counting.length, summary: JSON.stringify(contributionOf(counting)) };
}

/** Of what files say of other publishers, nothing of those whose owners want nothing told. */
function* withoutOptedOut(q: Query, changes: readonly PreparedChange[]): Coroutine<readonly PreparedChange[]> {
  const named = new Set(changes.flatMap(({ others }) => (others ?? []).map(({ publisherDomain }) => publisherDomain)));
  const out = yield* optedOutAmong(q, [...named]);
  if (out.size === 0) return changes;
  const stays = ({ publisherDomain }: { readonly publisherDomain: string }): boolean => !out.has(publisherDomain);
  return changes.map((one) => (one.others === undefined ? one : { ...one, others: one.others.filter(stays) }));
}

/**
 * Writes what changed of some publishers, in the caller's transaction. The caller ticks the clock after it, makes the
 * counts, and computes profiles or marks them to be computed.
 */
export function* writePublishers(q: Query, all: readonly PreparedChange[]): Coroutine<Written> {
  const wanted = yield* withoutOptedOut(q, all);
  const domains = new Set(wanted.map(({ domain }) => domain));
  for (const { others } of wanted) for (const { publisherDomain } of others ?? []) domains.add(publisherDomain);
  const rows = yield* lockPublishers(q, [...domains].sort(byCodePoint));
  // Once more: an owner may have opted out, and have had all that ended, while the locks were waited for.
  const given = yield* withoutOptedOut(q, wanted);
  const older = given.filter((change) => isOutdated(change, rows.get(change.domain)!));
  const outdated = new Set(older.map(({ domain }) => domain));
  const changes = given.map((change) => (outdated.has(change.domain) ? withoutFetched(change) : change));
  const replaced = changes.map((change) => replacedSets(change, rows.get(change.domain)!));
  const tally = new Tally();
  const { agents, own, claimed } = yield* clear(q, replaced, tally);
  const declared = Map.groupBy(own, ({ publisher }) => publisher);
  const { properties, edges } = project(replaced, rows);

  const urls = [...new Set(edges.map(({ agentUrl }) => agentUrl))].sort(byCodePoint);
  const ids = yield* ensureAgents(q, urls);
  yield* addProperties(q, properties);
  const edgeRows = edges.map(({ agentUrl, ...edge }): EdgeRow => ({ ...edge, agent: ids.get(agentUrl)! }));
  yield* addEdges(q, edgeRows);
  for (const { source, type } of properties) if (source !== "brand_json") tally.add("properties", type, 1);
  for (const { source } of edgeRows) tally.add("authorizations", source, 1);

  const partial = replaced.filter(keepsSets);
  const kept = yield* keptProperties(q, partial);
  const after = replaced.map((one) =>
    one.sets.length > 0
      ? changedRow(one, kept.get(one.row.id) ?? [], declared.get(one.row.id) ?? [])
      : { ...one.row, ...one.change.facts(one.row), digests: JSON.stringify(one.digests) },
  );
  yield* updatePublishers(q, after);
  const named = new Set([...edgeRows.map(({ publisher }) => publisher), ...idsOf(replaced)]);
  yield* removeUnnamed(q, [...claimed, ...[...rows.values()].map(({ id }) => id)], named);
  after.forEach((row, index) => {
    const before = replaced[index]!.row;
    tally.add("publishers", "discovered", Number(row.valid === 1) - Number(before.valid === 1));
    tally.add("brands", "known", Number(row.brand_key !== null) - Number(before.brand_key !== null));
  });
  // Whom the new sets name is known; the sets that stay may name others.
  for (const { source, agent } of edgeRows) if (source !== "agent_claim") agents.add(agent);
  for (const agent of yield* agentsAt(q, idsOf(partial))) agents.add(agent);
  return {
    changed: new Set(
      replaced.filter((one) => one.sets.length > 0 || one.claimsChanged).map(({ change }) => change.domain),
    ),
    publishers: idsOf(replaced.filter((one, at) => one.sets.length > 0 || one.row.valid !== after[at]!.valid)),
    properties: properties.length,
    authorizations: edgeRows.length,
    agents: [...agents],
    counts: tally.changes,
    outdated,
  };
}

/** Whether something is replaced, and something else of the same publisher stays as it is. */
const keepsSets = ({ digests, sets }: Replaced): boolean =>
  sets.length > 0 &&
  Object.keys(digests).some((source) => source !== "others" && !sets.some((one) => one.source === source));

const idsOf = (replaced: readonly Replaced[]): number[] => replaced.map(({ row }) => row.id);

/** Properties of sources that stay as they are. */
function* keptProperties(q: Query, partial: readonly Replaced[]): Coroutine<Map<number, PropertyRow[]>> {
  if (partial.length === 0) return new Map();
  const rows = yield* propertiesOf(q, idsOf(partial));
  const replacedSources = new Map(partial.map(({ row, sets }) => [row.id, new Set(sets.map(({ source }) => source))]));
  return Map.groupBy(
    rows.filter((row) => !replacedSources.get(row.publisher)!.has(row.source)),
    (row) => row.publisher,
  );
}
