/** Agent search: the index of this instance, brought up to the database's clock before each search. */

import type { Database } from "../../db/types.js";
import { clock } from "../../store/registry-clock.js";
import {
  type MoveRow,
  movesSince,
  type ProfileRow,
  profilesAfter,
  profilesSince,
} from "../../store/registry-profiles.js";
import { iso } from "../model.js";
import type { Facets, MarketMap } from "../page-types.js";
import {
  type AgentProfile,
  type AgentSearchResult,
  type Page,
  type PageRequest,
  SEARCH_DIMENSIONS,
  type SearchFilters,
} from "../types.js";
import { AgentIndex, type IndexedProfile } from "./agent-index.js";
import { formatCursor, parseCursor } from "./cursor.js";
import { facetsOf, marketMapOf } from "./facets.js";
import { type Hit, Scratch, select } from "./select.js";

/**
 * Profiles read at a time when an instance starts. Few: what is alive between two collections makes V8 double its young
 * generation, and it does not give that back (134 MB with 1,000 rows, 67 MB with 100).
 */
const LOAD_ROWS = 100;

const profileOfRow = (row: ProfileRow): IndexedProfile => ({
  agent: row.agent,
  url: row.url,
  registered: row.registered === 1,
  score: row.score,
  propertyCount: row.property_count,
  publisherCount: row.publisher_count,
  hasTmp: row.has_tmp === 1,
  taxonomy: row.taxonomy,
  lists: JSON.parse(row.lists) as string[][],
  updatedAt: row.updated_at,
  born: row.born,
});

export interface AgentSearch {
  search(filters: SearchFilters, page: PageRequest): Promise<Page<AgentSearchResult>>;
  facets(filters: SearchFilters): Promise<Facets>;
  marketMap(filters: SearchFilters, size: { readonly markets: number }): Promise<MarketMap>;
  /** Loads the index, where a first search would. */
  warm(): Promise<void>;
  /** Tells copies of the database how far they can be read; absent where none is asked. */
  settle?(): Promise<void>;
}

/**
 * @param discovered agents that no member registered are found too
 */
export function agentSearch(store: Database, discovered: boolean): AgentSearch {
  const mirror = new Mirror(store);
  const scratch = new Scratch();
  return {
    async warm() {
      await mirror.current();
    },
    facets: async (filters) => facetsOf(await mirror.current(), filters, discovered),
    marketMap: async (filters, { markets }) => marketMapOf(await mirror.current(), filters, { discovered, markets }),
    async search(filters, { cursor, limit }) {
      const position = cursor === undefined ? undefined : parseCursor(cursor);
      if (cursor !== undefined && position === undefined) return { ok: false, reason: "cursor_invalid" };
      const index = await mirror.current();
      const { seq, last: newest, pruned } = mirror;
      if (position !== undefined && position.seq > newest) return { ok: false, reason: "cursor_invalid" };
      if (position !== undefined && position.seq < pruned) return { ok: false, reason: "cursor_expired" };
      const hits = select(index, { filters, position, seq, limit: limit + 1, discovered }, scratch);
      const more = hits.length > limit;
      const shown = hits.slice(0, limit);
      const last = shown.at(-1);
      const next = more && last !== undefined ? formatCursor({ seq: position?.seq ?? seq, after: last.key }) : null;
      return { ok: true, value: { results: resultsOf(index, shown, filters), cursor: next, has_more: more } };
    },
  };
}

type ScoredProfile = Omit<IndexedProfile, "agent">;

function agentProfile(profile: ScoredProfile, score: number, filters: SearchFilters): AgentProfile {
  const matched = SEARCH_DIMENSIONS.filter((name) => (filters[name]?.length ?? 0) > 0);
  const [channels, types, markets, categories, tags, delivery, formats] = profile.lists as string[][];
  return {
    agent_url: profile.url,
    channels: channels!,
    property_types: types!,
    markets: markets!,
    categories: categories!,
    tags: tags!,
    delivery_types: delivery!,
    format_kinds: formats!,
    property_count: profile.propertyCount,
    publisher_count: profile.publisherCount,
    has_tmp: profile.hasTmp,
    category_taxonomy: profile.taxonomy,
    relevance_score: (matched.length > 0 ? 1 : 0) + score,
    matched_filters: matched,
    updated_at: iso(profile.updatedAt),
  };
}

/** A profile that was found, at its place in a traversal. */
export const profileOfFound = (row: ProfileRow & { readonly place: number }, filters: SearchFilters): AgentProfile =>
  agentProfile(profileOfRow(row), row.place, filters);

const resultsOf = (index: AgentIndex, hits: readonly Hit[], filters: SearchFilters): AgentProfile[] =>
  hits.map(({ slot, key }) => agentProfile(index.read(slot), key.score, filters));

interface Changes {
  readonly profiles: readonly ProfileRow[];
  readonly moves: readonly MoveRow[];
}

/**
 * The index, and how far it follows the database. It shows all that can be seen, which may be more than what lies before the
 * low-water mark; a traversal begins at the mark, and what changed after it is taken back by the moves.
 */
class Mirror {
  #index = new AgentIndex();
  /** All changes up to this clock are in the index; read it in the same turn as the index. */
  seq = -1;
  /** The newest clock that was given when the index was brought up to date. */
  last = -1;
  pruned = 0;
  /** Clocks after `seq` that are in the index. */
  #seen: number[] = [];
  #loaded: Promise<void> | undefined;
  #following: Promise<void> | undefined;

  constructor(readonly store: Database) {}

  async current(): Promise<AgentIndex> {
    this.#loaded ??= this.#load();
    try {
      await this.#loaded;
    } catch (error) {
      this.#loaded = undefined;
      this.#index = new AgentIndex();
      throw error;
    }
    const at = await this.store.query((q) => clock(q));
    // Where a change is under way, what was there when the index last followed says nothing of what is there now.
    if (at.seq < at.last) await this.#next();
    while (this.seq < at.seq) await this.#next();
    return this.#index;
  }

  /** What follows from now on: what is under way already may have looked before. */
  async #next(): Promise<void> {
    await this.#following?.catch(() => undefined);
    this.#following ??= this.#follow().finally(() => {
      this.#following = undefined;
    });
    await this.#following;
  }

  /** Reads all profiles in parts; what changes meanwhile is read again by `#follow`. */
  async #load(): Promise<void> {
    const { seq, last, pruned } = await this.store.query((q) => clock(q));
    let after = 0;
    for (;;) {
      const rows = await this.store.query((q) => profilesAfter(q, after, LOAD_ROWS));
      this.#index.load(rows.map(profileOfRow));
      if (rows.length < LOAD_ROWS) break;
      after = rows.at(-1)!.agent;
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#index.sort();
    const moves = await this.store.query((q) => movesSince(q, { version: pruned, seen: [] }));
    this.#index.addMoves(moves.filter(({ version }) => version <= seq));
    this.seq = seq;
    this.last = last;
    this.pruned = pruned;
  }

  async #follow(): Promise<void> {
    const since = { version: this.seq, seen: this.#seen };
    // The mark is asked first: what lies before it is in the state of the database that is then read.
    const { seq, last, pruned } = await this.store.query((q) => clock(q));
    const { profiles, moves } = await this.store.read(function* (q): Generator<Promise<unknown>, Changes, unknown> {
      return { profiles: yield* profilesSince(q, since), moves: yield* movesSince(q, since) };
    });
    const gone = profiles.filter((row) => row.gone === 1).map((row) => row.agent);
    this.#index.apply(profiles.filter((row) => row.gone === 0).map(profileOfRow), gone);
    this.#index.addMoves(moves);
    this.#index.forgetMoves(pruned);
    const seen = new Set([
      ...this.#seen,
      ...profiles.map(({ version }) => version),
      ...moves.map((one) => one.version),
    ]);
    // Another instance may have given out a later mark than the one that was found here just now; marks never go back.
    this.seq = Math.max(this.seq, seq);
    this.last = Math.max(this.last, last);
    this.#seen = [...seen].filter((version) => version > this.seq);
    this.pruned = pruned;
  }
}
