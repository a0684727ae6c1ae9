/** Counts of all parts of a search's index, added up. */
import type { Facets, FacetValue, MarketMap } from "../page-types.js";
import { SEARCH_DIMENSIONS, type SearchDimension } from "../types.js";
import { type FacetCounting, type FacetTotals, type Least, mostFirst, TOLD_VALUES } from "./facets.js";
import type { AnswerTo, PartQuestion, Values } from "./part-wire.js";

/** Asks the parts that are there; a part that does not answer is left out, and asked no more. */
export type AskParts = <Q extends PartQuestion>(question: Q) => Promise<AnswerTo<Q>[]>;

function added(lists: readonly (readonly FacetValue[])[]): FacetValue[] {
  const counts = new Map<string, number>();
  for (const { value, count } of lists.flat()) counts.set(value, (counts.get(value) ?? 0) + count);
  return [...counts].map(([value, count]) => ({ value, count })).sort(mostFirst);
}

/** Of each dimension every value that parts told. */
const toldValues = (totals: readonly FacetTotals[], names: readonly SearchDimension[]): Values =>
  Object.fromEntries(
    names.map((name) => [name, [...new Set(totals.flatMap((one) => one.values[name].map(({ value }) => value)))]]),
  );

/**
 * The hundred values with the most agents. Each part tells its own hundred; whoever is among the hundred of all, though of no
 * part's own, has in some part at least the share of a part of what the hundredth has. All those are told, and then counted.
 */
async function exactly(
  ask: AskParts,
  counting: FacetCounting,
  totals: readonly FacetTotals[],
): Promise<Partial<Record<SearchDimension, FacetValue[]>>> {
  const open = SEARCH_DIMENSIONS.filter((name) => totals.some(({ more }) => more.includes(name)));
  if (open.length === 0 || totals.length < 2) return {};
  const least: Least = Object.fromEntries(
    open.map((name) => {
      const hundredth = added(totals.map(({ values }) => values[name]))[TOLD_VALUES - 1]?.count ?? 1;
      return [name, Math.ceil(hundredth / totals.length)];
    }),
  );
  const candidates = toldValues(await ask({ ask: "facets", ...counting, least }), open);
  const counted = await ask({ ask: "counts", ...counting, values: candidates });
  return Object.fromEntries(
    open.map((name) => [
      name,
      added(counted.map(({ values }) => candidates[name]!.map((value, at) => ({ value, count: values[name]![at]! })))),
    ]),
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** @see PagedData.facets */
export async function splitFacets(ask: AskParts, counting: FacetCounting): Promise<Facets> {
  const totals = await ask({ ask: "facets", ...counting });
  const exact = await exactly(ask, counting, totals);
  const values = SEARCH_DIMENSIONS.map((name) => {
    const counted = exact[name] ?? added(totals.map((one) => one.values[name]));
    return [name, counted.filter(({ count }) => count > 0).slice(0, TOLD_VALUES)] as const;
  });
  return {
    total: sum(totals.map(({ total }) => total)),
    has_tmp: sum(totals.map(({ has_tmp }) => has_tmp)),
    values: Object.fromEntries(values) as unknown as Facets["values"],
  };
}

/** @see PagedData.marketMap */
export async function splitMarketMap(ask: AskParts, counting: FacetCounting, limit: number): Promise<MarketMap> {
  const { values } = await splitFacets(ask, { ...counting, kept: true });
  const chosen = (name: SearchDimension, most: number): string[] =>
    values[name].slice(0, most).map(({ value }) => value);
  const [channels, markets] = [chosen("channels", TOLD_VALUES), chosen("markets", limit)];
  const parts = await ask({ ask: "matrix", ...counting, channels, markets });
  return {
    channels,
    markets,
    counts: channels.map((_, row) =>
      markets.map((__, column) => sum(parts.map(({ counts }) => counts[row]![column]!))),
    ),
  };
}
