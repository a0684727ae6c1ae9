/** The properties you know, and what you measure them by. Asked at every call that resolves a list. */
import { exampleProperties, type PropertiesPort } from "adbind/behaviours";

export const properties: PropertiesPort = {
  features: [
    ...exampleProperties.features,
    { feature_id: "ad_density", type: "quantitative", range: { min: 0, max: 100 }, description: "Ads per page." },
  ],
  identifierTypes: exampleProperties.identifierTypes,
  async properties(who) {
    return [
      {
        property_id: "weather",
        publisher_domain: "weather.example",
        property_type: "website",
        identifiers: [{ type: "domain", value: "weather.example" }],
        tags: ["weather"],
        channels: ["display"],
        countries: ["US"],
        features: { brand_safety_score: 99, made_for_advertising: false, ad_density: 12 },
      },
      // What clients are tested with; leave it out when yours is complete.
      ...(await exampleProperties.properties(who)),
    ];
  },
  // Whether a publisher's file lets an agent sell a property; undefined while you do not read those files.
  authorized: async () => undefined,
};
