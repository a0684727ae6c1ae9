/** The programmes you know. Asked at every call that resolves a list. */
import { type CollectionsPort, exampleCollections } from "adbind/behaviours";

export const collections: CollectionsPort = {
  async collections(who) {
    return [
      {
        collection_id: "morning_trails",
        publisher_domain: "streamhaus.example",
        name: "Morning Trails",
        kind: "series",
        distribution_ids: [{ type: "imdb_id", value: "tt9100009" }],
        genre: ["outdoor"],
        genre_taxonomy: "custom",
        content_rating: { system: "tv_parental", rating: "TV-G" },
        production_quality: "professional",
      },
      // What clients are tested with; leave it out when yours is complete.
      ...(await exampleCollections.collections(who)),
    ];
  },
};
