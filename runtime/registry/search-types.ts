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

/** How a part of a search's index is. */
export interface SearchPartState {
  /** Which it is, as `2/4`. */
  readonly part: string;
  /** `ok`, or why it does not answer. */
  readonly state: string;
  /** All changes up to this number are in it; null where it did not say. */
  readonly change: number | null;
  /** Agents in it. */
  readonly agents: number | null;
}
