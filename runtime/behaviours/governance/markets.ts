/** Where an action may run: countries, or parts of them. Whoever may sell in a part of a country is not let into the whole. */
import { countryOfRegion } from "../frame/regions.js";

/** What one part of an action is for: of a country that has regions here, those are all of it. */
export interface Area {
  readonly countries: readonly string[];
  readonly regions: readonly string[];
}

/** Countries of which no part is named stand for the whole of them. */
const placesIn = ({ countries, regions }: Area): string[] => [
  ...regions,
  ...countries.filter((one) => !regions.some((region) => countryOfRegion(region) === one)),
];

/** Where a plan is for; undefined where it does not say. */
export function marketsOf({ countries, regions }: Partial<Area>): readonly string[] | undefined {
  if (countries === undefined && regions === undefined) return undefined;
  return placesIn({ countries: countries ?? [], regions: regions ?? [] });
}

/** The places of an action that are not among the markets. */
export function outsideOf(markets: readonly string[] | undefined, areas: readonly Area[]): string[] {
  if (markets === undefined) return [];
  const places = areas.flatMap(placesIn);
  return [...new Set(places.filter((one) => !markets.includes(one) && !markets.includes(countryOfRegion(one))))];
}
