/** Where a product's inventory is, and whether that is where a buyer looks. */
import { countryOfRegion } from "../frame/regions.js";
import type { Coverage } from "../ports/catalogue.js";

export interface CoverageFilters {
  readonly countries?: readonly string[];
  readonly regions?: readonly string[];
  readonly metros?: Coverage["metros"];
  readonly postal_areas?: Coverage["postal_areas"];
}

type PostalArea = NonNullable<Coverage["postal_areas"]>[number];

/** Older names say country and system in one word. */
export const postalSystem = ({ country, system }: Pick<PostalArea, "country" | "system">): string => {
  const [prefix = "", ...rest] = system.split("_");
  return country === undefined ? `${prefix.toUpperCase()} ${rest.join("_")}` : `${country} ${system}`;
};

const postalCountry = (area: PostalArea): string => postalSystem(area).split(" ")[0]!;

function coversCountry({ countries = [], regions = [], postal_areas: areas = [] }: Coverage, country: string): boolean {
  const known = [...countries, ...regions.map(countryOfRegion), ...areas.map(postalCountry)];
  return known.length === 0 || known.includes(country);
}

/** Of a country, regions that are named are all that is covered. */
function coversRegion(coverage: Coverage, region: string): boolean {
  const narrowed = (coverage.regions ?? []).filter((one) => countryOfRegion(one) === countryOfRegion(region));
  return narrowed.length > 0 ? narrowed.includes(region) : coversCountry(coverage, countryOfRegion(region));
}

function coversPostal(coverage: Coverage, wanted: PostalArea): boolean {
  const own = (coverage.postal_areas ?? []).filter((one) => postalSystem(one) === postalSystem(wanted));
  if (own.length === 0) return coversCountry(coverage, postalCountry(wanted));
  return own.some(({ values }) => values.some((one) => wanted.values.includes(one)));
}

/** One area of each kind that is asked for is enough; where nothing is said, it is covered. */
export function isWhereWanted(coverage: Coverage = {}, filters: CoverageFilters): boolean {
  const { countries, regions, metros, postal_areas: areas } = filters;
  const has = ({ system, code }: NonNullable<Coverage["metros"]>[number]): boolean =>
    coverage.metros === undefined || coverage.metros.some((one) => one.system === system && one.code === code);
  return (
    (countries?.some((one) => coversCountry(coverage, one)) ?? true) &&
    (regions?.some((one) => coversRegion(coverage, one)) ?? true) &&
    (metros?.some(has) ?? true) &&
    (areas?.some((one) => coversPostal(coverage, one)) ?? true)
  );
}
