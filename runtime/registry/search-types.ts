/** What agents are searched by. */

/** The list filters, in the order that `matched_filters` names them. */
export const SEARCH_DIMENSIONS = [
  "channels",
  "property_types",
  "markets",
  "categories",
  "tags",
  "delivery_types",
  "format_kinds",
] as const;
/** A list filter of agent search. */
export type SearchDimension = (typeof SEARCH_DIMENSIONS)[number];

/** Filters of different names must all hold; values of one are alternatives; an empty list is no filter. */
export type SearchFilters = { readonly [dimension in SearchDimension]?: readonly string[] } & {
  readonly has_tmp?: boolean;
  readonly min_properties?: number;
};
