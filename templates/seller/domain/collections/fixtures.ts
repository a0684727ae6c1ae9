/** Collections a new project knows. Replace them with your own catalogue. */
import type { Fixture } from "../../documents.js";
import type { Collection } from "./catalog.js";

const known: readonly Collection[] = [
  {
    collection_id: "trail_life",
    publisher_domain: "streamhaus.example",
    name: "Trail Life",
    kind: "series",
    distribution_ids: [{ type: "imdb_id", value: "tt9100001" }],
    genre: ["outdoor", "travel"],
    genre_taxonomy: "custom",
    content_rating: { system: "tv_parental", rating: "TV-G" },
    production_quality: "professional",
  },
  {
    collection_id: "summit_stories",
    publisher_domain: "streamhaus.example",
    name: "Summit Stories",
    kind: "series",
    distribution_ids: [{ type: "imdb_id", value: "tt9100002" }],
    genre: ["outdoor", "documentary"],
    genre_taxonomy: "custom",
    content_rating: { system: "tv_parental", rating: "TV-PG" },
    production_quality: "professional",
  },
  {
    collection_id: "night_court_files",
    publisher_domain: "streamhaus.example",
    name: "Night Court Files",
    kind: "series",
    distribution_ids: [{ type: "imdb_id", value: "tt9100003" }],
    genre: ["crime"],
    genre_taxonomy: "custom",
    content_rating: { system: "tv_parental", rating: "TV-MA" },
    production_quality: "professional",
  },
];

export const fixtures: readonly Fixture[] = known.map((body) => ({
  kind: "collection",
  owner: "",
  id: body.collection_id,
  body,
}));
