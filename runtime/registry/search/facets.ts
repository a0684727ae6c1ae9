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

const mostFirst = (a: FacetValue, b: FacetValue): number => b.count - a.count || (a.value < b.value ? -1 : 1);

/** Values of a dimension with the most agents of a set. */
function valuesOf(index: AgentIndex, dimension: number, set: Uint32Array | undefined, limit: number): FacetValue[] {
  const found: FacetValue[] = [];
  // Sizes are bounds: who has fewer agents than the last that is told need not be counted.
  const all = [...index.valuesOf(dimension)].sort(([, a], [, b]) => b.size - a.size);
  let least = 0;
  for (const [value, posting] of all) {
    if (found.length >= limit && posting.size < least) break;
    const count = countIn(posting, set);
    if (count === 0) continue;
    found.push({ value, count });
    if (found.length % limit === 0) least = [...found].sort(mostFirst)[limit - 1]!.count;
  }
  return found.sort(mostFirst).slice(0, limit);
}

/** @see PagedData.facets */
export function facetsOf(index: AgentIndex, filters: SearchFilters, discovered: boolean): Facets {
  const set = agentSet(index, filters, { discovered });
  const { has_tmp: _, ...anyMatch } = filters;
  const values = SEARCH_DIMENSIONS.map((name, dimension) => {
    const chosen = (filters[name]?.length ?? 0) > 0;
    const within = chosen ? agentSet(index, filters, { discovered, without: name }) : set;
    return [name, valuesOf(index, dimension, within, TOLD_VALUES)] as const;
  });
  return {
    total: set === undefined ? index.size : popcount(set),
    has_tmp: countIn(index.withTmp, filters.has_tmp === true ? agentSet(index, anyMatch, { discovered }) : set),
    values: Object.fromEntries(values) as unknown as Facets["values"],
  };
}

/** @see PagedData.marketMap */
export function marketMapOf(
  index: AgentIndex,
  filters: SearchFilters,
  { discovered, markets: limit }: { readonly discovered: boolean; readonly markets: number },
): MarketMap {
  const [channelsAt, marketsAt] = [SEARCH_DIMENSIONS.indexOf("channels"), SEARCH_DIMENSIONS.indexOf("markets")];
  const set = agentSet(index, filters, { discovered });
  const channels = valuesOf(index, channelsAt, set, TOLD_VALUES).map(({ value }) => value);
  const markets = valuesOf(index, marketsAt, set, limit).map(({ value }) => value);
  const counts = channels.map((channel) => {
    const within = agentSet(index, { ...filters, channels: [channel] }, { discovered });
    return markets.map((market) => countIn(index.posting(marketsAt, market)!, within));
  });
  return { channels, markets, counts };
}
