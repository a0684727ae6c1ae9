/** The country of a region (ISO 3166-2); a country stands for itself. */
export const countryOfRegion = (place: string): string => place.split("-")[0]!;
