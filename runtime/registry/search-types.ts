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

/** Why a part did not answer: nobody listens, too slow, reading its index, its database is behind, it will not, it cannot. */
export type PartFault = "gone" | "late" | "loading" | "behind" | "refused" | "failed";

/** What became of a question, for whoever counts and logs. */
export interface PartEvent {
  /** Which part, as `2/4`. */
  readonly part: string;
  /** Its address. */
  readonly url: string;
  /** Undefined: it answered. */
  readonly why?: PartFault;
  readonly detail?: string;
  /** It is otherwise than before. */
  readonly changed: boolean;
}

/** Where the parts of a search's index are. */
export interface SearchParts {
  /** Addresses of all parts, the first of part 1. */
  readonly urls: readonly string[];
  /** The secret that parts and those who ask them share. */
  readonly token: string;
  /** How long a part is waited for, in milliseconds. Default 1,000. */
  readonly deadlineMs?: number | undefined;
  /** Hears what became of each question. */
  readonly onAnswer?: ((event: PartEvent) => void) | undefined;
}
