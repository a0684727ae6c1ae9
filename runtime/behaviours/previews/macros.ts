/** Macros such as `{SKU}` in texts and addresses. */

const macro = /\{([A-Z][A-Z0-9_]*)\}/g;

/**
 * Puts values in place of macros as they are; the caller has encoded them. One pass: a macro that a value brings with it
 * stays a text.
 */
export const fillLiteral = (text: string, values: { readonly [name: string]: string }): string =>
  text.replace(macro, (whole, name: string) => (Object.hasOwn(values, name) ? (values[name] as string) : whole));

/** Everything but the unreserved characters of RFC 3986 (2.3) percent-encoded: a value stays in its place in a URL. */
const encodeValue = (value: string): string =>
  encodeURIComponent(value.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Puts the values of a catalogue's item into an address. */
export const fillUrl = (url: string, values: { readonly [name: string]: string }): string =>
  fillLiteral(url, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, encodeValue(value)])));

/** Fields of a catalogue's item that macros name. */
export function itemMacros(item: { readonly [field: string]: unknown }, catalogId: string): { [name: string]: string } {
  const fields: readonly (readonly [macro: string, ...fields: string[]])[] = [
    ["SKU", "sku", "item_id"],
    ["GTIN", "gtin"],
    ["OFFERING_ID", "offering_id"],
    ["STORE_ID", "store_id"],
    ["HOTEL_ID", "hotel_id"],
    ["FLIGHT_ID", "flight_id"],
    ["VEHICLE_ID", "vehicle_id"],
    ["LISTING_ID", "listing_id"],
    ["JOB_ID", "job_id"],
    ["PROGRAM_ID", "program_id"],
    ["DESTINATION_ID", "destination_id"],
  ];
  const known = fields.flatMap(([name, ...from]) => {
    const value = from.map((field) => item[field]).find((one) => typeof one === "string" || typeof one === "number");
    return value === undefined ? [] : [[name, String(value)]];
  });
  return { ...Object.fromEntries(known), CATALOG_ID: catalogId };
}
