/** Profiles: what an agent can sell, computed from what publishers let it, and from what its member says of it. */
import { begin, type Coroutine, wait } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { type AgentRow, agentsById } from "../store/registry-agents.js";
import {
  addMoves,
  type ContributionRow,
  type CountChange,
  contributionsOf,
  type MoveRow,
  type ProfileRow,
  profilesOf,
  pruneMoves,
  putProfiles,
} from "../store/registry-profiles.js";
import { keepsSearch, putSearchRows, searchState } from "../store/registry-search.js";
import { type Contribution, fittingValues } from "./contribution.js";
import { byCodePoint } from "./model.js";

/** The rank of an agent; a search adds 1 where a list filter is used (docs/protocol/registry.md#score). */
export const scoreOf = (propertyCount: number, hasTmp: boolean): number =>
  0.1 * Math.log(propertyCount + 1) + (hasTmp ? 0.05 : 0);

/** Taxonomy of categories whose file names none. */
const DEFAULT_TAXONOMY = "iab_content_3.0";
/** A page's cursor is good for as long as this after the page was given, whatever changes. */
export const MOVE_RETENTION_MS = 3_600_000;

/** Values with how many publishers have them. */
class Votes {
  readonly #counts = new Map<string, number>();

  add(values: readonly string[]): void {
    for (const value of values) this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
  }

  /** The most shared ones, by code point. */
  list(): string[] {
    const all = [...this.#counts.keys()];
    const shared = (value: string): number => this.#counts.get(value)!;
    const fitting =
      fittingValues(all).length === all.length
        ? all
        : fittingValues(all.sort((a, b) => shared(b) - shared(a) || byCodePoint(a, b)));
    return [...fitting].sort(byCodePoint);
  }
}

/** Properties by type: the files of publishers may have any number of types, of which those in the profile's list are told. */
class TypeCounts {
  readonly #counts = new Map<string, number>();
  #whole = true;

  add({ types, counts }: Contribution): void {
    if (counts === undefined && types.length > 0) this.#whole = false;
    for (const [type, count] of Object.entries(counts ?? {}))
      this.#counts.set(type, (this.#counts.get(type) ?? 0) + count);
  }

  /** Null where some were not counted. */
  of(types: readonly string[]): string | null {
    if (!this.#whole) return null;
    return JSON.stringify(Object.fromEntries(types.map((type) => [type, this.#counts.get(type) ?? 0])));
  }
}

const listOf = (text: string | null): string[] => (text === null ? [] : (JSON.parse(text) as string[]));

type Content = Omit<ProfileRow, "updated_at" | "born" | "version" | "gone">;

/** An agent's profile; undefined where it has none: nobody authorizes it, or its member does not show it. */
function profileOf(agent: AgentRow, edges: readonly ContributionRow[]): Content | undefined {
  if (agent.member !== null && agent.visibility !== "public") return undefined;
  const votes = {
    types: new Votes(),
    channels: new Votes(),
    tags: new Votes(),
    markets: new Votes(),
    genres: new Votes(),
  };
  const counts = new TypeCounts();
  const taxonomies = new Set<string>();
  const publishers = new Set<number>();
  let properties = 0;
  for (const edge of edges) {
    const inEffect = edge.wide === 1 || edge.coverage !== null;
    const superseded = edge.source === "aao_hosted" && edge.valid === 1;
    if (!inEffect || superseded || publishers.has(edge.publisher)) continue;
    publishers.add(edge.publisher);
    properties += edge.wide === 1 ? edge.property_count : edge.covered;
    const added = edge.wide === 1 ? edge.summary : edge.coverage;
    if (added !== null) {
      const contribution = JSON.parse(added) as Contribution;
      votes.types.add(contribution.types);
      votes.channels.add(contribution.channels);
      votes.tags.add(contribution.tags);
      counts.add(contribution);
    }
    votes.markets.add(listOf(edge.countries));
    const genres = listOf(edge.genres);
    votes.genres.add(genres);
    if (genres.length > 0) taxonomies.add(edge.taxonomy ?? DEFAULT_TAXONOMY);
  }
  if (publishers.size === 0) return undefined;
  const types = votes.types.list();
  const lists = [
    votes.channels.list(),
    types,
    votes.markets.list(),
    votes.genres.list(),
    votes.tags.list(),
    listOf(agent.delivery_types),
    listOf(agent.format_kinds),
  ];
  return {
    agent: agent.id,
    url: agent.url,
    registered: agent.member === null ? 0 : 1,
    score: scoreOf(properties, agent.has_tmp === 1),
    property_count: properties,
    publisher_count: publishers.size,
    has_tmp: agent.has_tmp,
    taxonomy: [...taxonomies].sort(byCodePoint)[0] ?? null,
    lists: JSON.stringify(lists),
    type_counts: counts.of(types),
  };
}

/** Agents whose authorizations are read at once: some have tens of thousands. */
const SLICE_AGENTS = 100;

/** What each agent's profile should be. */
function* contentsOf(q: Query, agents: readonly AgentRow[]): Coroutine<Map<number, Content | undefined>> {
  const contents = new Map<number, Content | undefined>();
  const sliceAt = (first: number): readonly AgentRow[] => agents.slice(first, first + SLICE_AGENTS);
  const ask = (slice: readonly AgentRow[]) =>
    slice.length === 0
      ? wait([])
      : contributionsOf(
          q,
          slice.map(({ id }) => id),
        );
  let asked = begin(ask(sliceAt(0)));
  for (let first = 0; first < agents.length; first += SLICE_AGENTS) {
    const edges = Map.groupBy(yield* asked.rest, (edge) => edge.agent);
    asked = begin(ask(sliceAt(first + SLICE_AGENTS)));
    if (asked.waits) {
      // It is sent in a turn of its own; then PostgreSQL looks for the next ones while these are computed.
      yield new Promise(setImmediate);
    }
    for (const agent of sliceAt(first)) contents.set(agent.id, profileOf(agent, edges.get(agent.id) ?? []));
  }
  return contents;
}

/** Agents that no member registered, of those that have a profile. */
const foundOf = (rows: readonly ProfileRow[], only: readonly ProfileRow[] = rows): number => {
  const changed = new Set(only.map(({ agent }) => agent));
  return rows.filter(({ agent, gone, registered }) => gone === 0 && registered === 0 && changed.has(agent)).length;
};

const compared = [
  "registered",
  "score",
  "property_count",
  "publisher_count",
  "has_tmp",
  "taxonomy",
  "lists",
  "type_counts",
] as const satisfies readonly (keyof Content)[];

/** How many profiles changed, and what that adds to the counters. */
interface Computed {
  readonly profiles: number;
  readonly counts: readonly CountChange[];
}

/**
 * Computes profiles again, in the caller's transaction, which holds the agents: another transaction's change of the same agent
 * is either seen here, or sees this one.
 * @param seq number of the change, taken since they are held
 */
export function* computeProfiles(q: Query, agents: readonly number[], seq: number, now: number): Coroutine<Computed> {
  if (agents.length === 0) return { profiles: 0, counts: [] };
  const rows = yield* agentsById(q, agents);
  const before = new Map((yield* profilesOf(q, agents)).map((row) => [row.agent, row]));
  const profiles: ProfileRow[] = [];
  const moves: MoveRow[] = [];
  for (const [agent, next] of yield* contentsOf(q, rows)) {
    const old = before.get(agent);
    const there = old !== undefined && old.gone === 0;
    if (next === undefined ? !there : there && compared.every((name) => old[name] === next[name])) continue;
    if (there && (next === undefined || next.score !== old.score))
      moves.push({ version: seq, agent, before: old.score, born: old.born });
    if (next === undefined) profiles.push({ ...old!, version: seq, updated_at: now, gone: 1 });
    else profiles.push({ ...next, updated_at: now, born: there ? old.born : seq, version: seq, gone: 0 });
  }
  yield* putProfiles(q, profiles);
  if (profiles.length > 0 && keepsSearch(q.dialect) && (yield* searchState(q)) > 0) yield* putSearchRows(q, profiles);
  yield* addMoves(q, moves, now);
  yield* pruneMoves(q, now - MOVE_RETENTION_MS);
  const by = foundOf(profiles) - foundOf([...before.values()], profiles);
  return { profiles: profiles.length, counts: [{ kind: "agents", name: "discovered", by }] };
}
