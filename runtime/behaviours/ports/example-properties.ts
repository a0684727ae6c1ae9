/** Properties to begin with: what clients are tested with. */
import type { MeasuredProperty, PropertiesPort } from "./properties.js";

const site = (domain: string, tags: readonly string[], safety: number, countries = ["US", "CA"]): MeasuredProperty => ({
  property_id: domain.split(".")[0]!,
  publisher_domain: domain,
  property_type: "website",
  identifiers: [{ type: "domain", value: domain }],
  tags,
  channels: ["display", "olv"],
  countries,
  features: { brand_safety_score: safety, made_for_advertising: safety < 50 },
});

const known: readonly MeasuredProperty[] = [
  site("outdoormagazine.example", ["outdoor", "magazine"], 96),
  site("hikingtrails.example", ["outdoor", "travel"], 91),
  site("campinggear.example", ["outdoor", "shopping"], 88),
  site("mountaineering.example", ["outdoor", "sports"], 93, ["US", "CH"]),
  site("citynews.example", ["news"], 74),
  site("quickclicks.example", ["aggregator"], 31),
];

/** A few websites, measured by two features. */
export const exampleProperties: PropertiesPort = {
  features: [
    {
      feature_id: "brand_safety_score",
      type: "quantitative",
      range: { min: 0, max: 100 },
      description: "How safe the environment is for brands.",
    },
    {
      feature_id: "made_for_advertising",
      type: "binary",
      description: "Whether the property exists for its advertising.",
    },
  ],
  identifierTypes: [
    "domain",
    "subdomain",
    "bundle_id",
    "ios_bundle",
    "android_package",
    "apple_app_store_id",
    "google_play_id",
    "roku_store_id",
    "venue_id",
    "rss_url",
    "podcast_guid",
  ],
  properties: async () => known,
};
