/** Counts for a search: how many agents have which value, of each dimension as if nothing were chosen in it. */
import type { Facets, FacetValue, MarketMap } from "../page-types.js";
import { SEARCH_DIMENSIONS, type SearchDimension, type SearchFilters } from "../types.js";
import type { AgentIndex } from "./agent-index.js";
import { bitCount, hasBit, type Posting } from "./posting.js";

/** Values told of one dimension: those most agents have. */
export const TOLD_VALUES = 100;

const popcount = (words: Uint32Array): number => {
  let count = 0;
  for (const word of words) count += bitCount(word);
  return count;
};

/** How many agents of a set a posting has. */
function countIn(posting: Posting, set: Uint32Array | undefined): number {
  if (set === undefined) return posting.size;
  const { list, bitmap } = posting;
  let count = 0;
  if (list !== undefined) {
    for (const slot of list) if (hasBit(set, slot)) count += 1;
    return count;
  }
  const length = Math.min(bitmap!.length, set.length);
  for (let at = 0; at < length; at++) count += bitCount(bitmap![at]! & set[at]!);
  return count;
}

/** Agents that meet the filters, but for those of one dimension; undefined is all of them. */
function agentSet(
  index: AgentIndex,
  filters: SearchFilters,
  { discovered, without }: { readonly discovered: boolean; readonly without?: SearchDimension | undefined },
): Uint32Array | undefined {
  let set: Uint32Array | undefined;
  const meet = (postings: readonly Posting[]): void => {
    const words = new Uint32Array((index.capacity + 31) >>> 5);
    for (const posting of postings) posting.unionInto(words);
    if (set === undefined) set = words;
    else for (let at = 0; at < words.length; at++) set[at]! &= words[at]!;
  };
  SEARCH_DIMENSIONS.forEach((name, dimension) => {
    const values = name === without ? [] : [...new Set(filters[name])];
    if (values.length > 0) meet(values.flatMap((value) => index.posting(dimension, value) ?? []));
  });
  if (filters.has_tmp === true) meet([index.withTmp]);
  if (!discovered && index.registered.size < index.size) meet([index.registered]);
  const least = filters.min_properties ?? 0;
  if (least === 0) return set;
  const enough = new Uint32Array((index.capacity + 31) >>> 5);
  for (const slot of index.order) if (index.counts[slot]! >= least) enough[slot >>> 5]! |= 1 << (slot & 31);
  if (set === undefined) return enough;
  for (let at = 0; at < enough.length; at++) enough[at]! &= set[at]!;
  return enough;
}

/** Order in which values are told. */
export const mostFirst = (a: FacetValue, b: FacetValue): number => b.count - a.count || (a.value < b.value ? -1 : 1);

interface Wanted {
  readonly limit: number;
  /** Only values that so many agents have; default 1. */
  readonly least?: number | undefined;
}

interface Found {
  readonly values: FacetValue[];
  /** There may be others that an agent of the set has. */
  readonly more: boolean;
}

/** Values of a dimension with the most agents of a set. */
function valuesOf(
  index: AgentIndex,
  dimension: number,
  set: Uint32Array | undefined,
  { limit, least: fewest = 1 }: Wanted,
): Found {
  const found: FacetValue[] = [];
  // Sizes are bounds: who has fewer agents than the last that is told need not be counted.
  const all = [...index.valuesOf(dimension)].sort(([, a], [, b]) => b.size - a.size);
  let least = fewest;
  let more = false;
  for (const [value, posting] of all) {
    if (posting.size < least) {
      more = posting.size > 0;
      break;
    }
    const count = countIn(posting, set);
    if (count < fewest) continue;
    found.push({ value, count });
    if (found.length % limit === 0) least = [...found].sort(mostFirst)[limit - 1]!.count;
  }
  return { values: found.sort(mostFirst).slice(0, limit), more: more || found.length > limit };
}

/** By dimension: how many agents a value must have to be told. */
export type Least = Partial<Record<SearchDimension, number>>;

/** Counts for a search, and of which dimensions there may be values that are not told. */
export interface FacetTotals extends Facets {
  readonly more: readonly SearchDimension[];
}

/** Values told of a dimension where it is said how many agents they must have. */
const MOST_VALUES = 1_000;

/** What is counted. */
export interface FacetCounting {
  readonly filters: SearchFilters;
  readonly discovered: boolean;
  /** What is chosen in a dimension counts for that dimension too; otherwise it is counted as if nothing were chosen in it. */
  readonly kept?: boolean;
}

/** The agents that each dimension is counted among. */
function sets(index: AgentIndex, { filters, discovered, kept = false }: FacetCounting) {
  const all = agentSet(index, filters, { discovered });
  const of = (name: SearchDimension): Uint32Array | undefined =>
    !kept && (filters[name]?.length ?? 0) > 0 ? agentSet(index, filters, { discovered, without: name }) : all;
  return { all, of };
}

/**
 * Counts for a search.
 * @param least of these dimensions all values that so many agents have, and nothing of the others; absent: of each dimension
 * the hundred with the most agents
 */
export function facetTotals(index: AgentIndex, counting: FacetCounting, least?: Least): FacetTotals {
  const { filters, discovered } = counting;
  const { all, of } = sets(index, counting);
  const { has_tmp: _, ...anyMatch } = filters;
  const more: SearchDimension[] = [];
  const values = SEARCH_DIMENSIONS.map((name, dimension) => {
    if (least !== undefined && least[name] === undefined) return [name, []] as const;
    const wanted =
      least === undefined ? { limit: TOLD_VALUES } : { limit: MOST_VALUES, least: Math.max(1, least[name]!) };
    const found = valuesOf(index, dimension, of(name), wanted);
    if (found.more) more.push(name);
    return [name, found.values] as const;
  });
  return {
    total: all === undefined ? index.size : popcount(all),
    has_tmp: countIn(index.withTmp, filters.has_tmp === true ? agentSet(index, anyMatch, { discovered }) : all),
    values: Object.fromEntries(values) as unknown as Facets["values"],
    more,
  };
}

/** How many agents each of some values would leave, by dimension in their order. */
export function facetCounts(
  index: AgentIndex,
  counting: FacetCounting,
  wanted: Partial<Record<SearchDimension, readonly string[]>>,
): Partial<Record<SearchDimension, number[]>> {
  const { of } = sets(index, counting);
  const counts = SEARCH_DIMENSIONS.flatMap((name, dimension) => {
    const values = wanted[name];
    if (values === undefined) return [];
    const within = of(name);
    const countOf = (value: string): number => {
      const posting = index.posting(dimension, value);
      return posting === undefined ? 0 : countIn(posting, within);
    };
    return [[name, values.map(countOf)] as const];
  });
  return Object.fromEntries(counts);
}

/** @see PagedData.facets */
export function facetsOf(index: AgentIndex, filters: SearchFilters, discovered: boolean): Facets {
  const { more: _, ...facets } = facetTotals(index, { filters, discovered });
  return facets;
}

const CHANNELS = SEARCH_DIMENSIONS.indexOf("channels");
const MARKETS = SEARCH_DIMENSIONS.indexOf("markets");

/** Agents by channel and market, of those given. */
export function matrixOf(
  index: AgentIndex,
  filters: SearchFilters,
  { discovered, channels, markets }: { discovered: boolean; channels: readonly string[]; markets: readonly string[] },
): number[][] {
  const postings = markets.map((market) => index.posting(MARKETS, market));
  return channels.map((channel) => {
    const within = agentSet(index, { ...filters, channels: [channel] }, { discovered });
    return postings.map((posting) => (posting === undefined ? 0 : countIn(posting, within)));
  });
}

/** @see PagedData.marketMap */
export function marketMapOf(
  index: AgentIndex,
  filters: SearchFilters,
  { discovered, markets: limit }: { readonly discovered: boolean; readonly markets: number },
): MarketMap {
  const set = agentSet(index, filters, { discovered });
  const valued = (dimension: number, most: number): string[] =>
    valuesOf(index, dimension, set, { limit: most }).values.map(({ value }) => value);
  const [channels, markets] = [valued(CHANNELS, TOLD_VALUES), valued(MARKETS, limit)];
  return { channels, markets, counts: matrixOf(index, filters, { discovered, channels, markets }) };
}
