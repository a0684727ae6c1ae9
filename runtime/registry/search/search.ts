/** Agent search: the index of this instance, brought up to the database's clock before each search. */

import type { Database } from "../../db/types.js";
import type { ProfileRow } from "../../store/registry-profiles.js";
import { iso } from "../model.js";
import type { Facets, MarketMap } from "../page-types.js";
import {
  type AgentProfile,
  type AgentSearchResult,
  type Page,
  type PageRequest,
  SEARCH_DIMENSIONS,
  type SearchFilters,
  type SearchPartState,
} from "../types.js";
import type { AgentIndex, IndexedProfile } from "./agent-index.js";
import { formatCursor, parseCursor } from "./cursor.js";
import { facetsOf, marketMapOf } from "./facets.js";
import { Mirror, profileOfRow } from "./mirror.js";
import { Remembered } from "./remembered.js";
import { type Hit, Scratch, select } from "./select.js";

export interface AgentSearch {
  search(filters: SearchFilters, page: PageRequest): Promise<Page<AgentSearchResult>>;
  facets(filters: SearchFilters): Promise<Facets>;
  marketMap(filters: SearchFilters, size: { readonly markets: number }): Promise<MarketMap>;
  /** Loads the index, where a first search would. @param signal ends what waits for others */
  warm(signal?: AbortSignal): Promise<void>;
  /** Tells copies of the database how far they can be read; absent where none is asked. */
  tellMark?(): Promise<void>;
  /** How each part of the index is; absent where it is in one piece. */
  parts?(): Promise<SearchPartState[]>;
}

/**
 * @param discovered agents that no member registered are found too
 */
export function agentSearch(store: Database, discovered: boolean): AgentSearch {
  const mirror = new Mirror(store);
  const scratch = new Scratch();
  const counts = new Remembered();
  return {
    async warm(signal) {
      await mirror.current(undefined, signal);
    },
    async facets(filters) {
      const index = await mirror.current();
      return counts.answer(mirror.revision, { filters }, () => facetsOf(index, filters, discovered));
    },
    async marketMap(filters, { markets }) {
      const index = await mirror.current();
      const wanted = { discovered, markets };
      return counts.answer(mirror.revision, { filters, markets }, () => marketMapOf(index, filters, wanted));
    },
    async search(filters, { cursor, limit }) {
      const position = cursor === undefined ? undefined : parseCursor(cursor);
      if (cursor !== undefined && position === undefined) return { ok: false, reason: "cursor_invalid" };
      // It waits for parts of an index that is in one piece here.
      if (position?.waiting !== undefined) return { ok: false, reason: "cursor_expired" };
      const index = await mirror.current();
      const { last: newest, pruned } = mirror;
      if (position !== undefined && position.seq > newest) return { ok: false, reason: "cursor_invalid" };
      if (position !== undefined && position.seq < pruned) return { ok: false, reason: "cursor_expired" };
      const seq = position?.seq ?? mirror.seq;
      const after = position?.after;
      const hits = select(index, { filters, after, seq, limit: limit + 1, discovered }, scratch);
      const more = hits.length > limit;
      const shown = hits.slice(0, limit);
      const last = shown.at(-1);
      const next = more && last !== undefined ? formatCursor({ seq, after: last.key }) : null;
      return { ok: true, value: { results: resultsOf(index, shown, filters), cursor: next, has_more: more } };
    },
  };
}

/** What is told of an agent that was found. */
export type ScoredProfile = Omit<IndexedProfile, "agent" | "registered" | "born">;

/** An agent as a search shows it. @param score its place in the traversal */
export function agentProfile(profile: ScoredProfile, score: number, filters: SearchFilters): AgentProfile {
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
