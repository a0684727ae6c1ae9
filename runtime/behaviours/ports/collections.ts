/** What is known of collections: shows, series, podcasts. */
import type { CallsUpstream } from "./upstream.js";

/** What a collection is known by elsewhere. */
export interface DistributionId {
  /** As the wire has it: `imdb_id`, `spotify_show_id`. */
  readonly type: string;
  readonly value: string;
}

/** A collection as the seller knows it. */
export interface KnownCollection {
  readonly collection_id: string;
  readonly publisher_domain: string;
  readonly name: string;
  readonly kind?: string;
  readonly distribution_ids: readonly DistributionId[];
  readonly genre?: readonly string[];
  readonly genre_taxonomy?: string;
  readonly content_rating?: { readonly system: string; readonly rating: string };
  readonly production_quality?: string;
}

/** Collections of content that buyers may list. Yours to answer. */
export interface CollectionsPort extends CallsUpstream {
  /** Asked at every call that resolves a list. */
  collections(who: { readonly principal: string }): Promise<readonly KnownCollection[]>;
}

const series = (
  collection_id: string,
  name: string,
  imdb: string,
  rating: string,
  genre: readonly string[],
): KnownCollection => ({
  collection_id,
  publisher_domain: "streamhaus.example",
  name,
  kind: "series",
  distribution_ids: [{ type: "imdb_id", value: imdb }],
  genre,
  genre_taxonomy: "custom",
  content_rating: { system: "tv_parental", rating },
  production_quality: "professional",
});

const known: readonly KnownCollection[] = [
  series("trail_life", "Trail Life", "tt9100001", "TV-G", ["outdoor", "travel"]),
  series("summit_stories", "Summit Stories", "tt9100002", "TV-PG", ["outdoor", "documentary"]),
  series("night_court_files", "Night Court Files", "tt9100003", "TV-MA", ["crime"]),
];

/** A few series: what clients are tested with. */
export const exampleCollections: CollectionsPort = { collections: async () => known };
