/** Properties a new project knows. Replace them with your own measurements. */
import type { Fixture } from "../../documents.js";
import type { Property } from "./catalog.js";

const site = (domain: string, tags: readonly string[], safety: number, countries = ["US", "CA"]): Property => ({
  property_id: domain.split(".")[0] as string,
  publisher_domain: domain,
  property_type: "website",
  identifiers: [{ type: "domain", value: domain }],
  tags,
  channels: ["display", "olv"],
  countries,
  features: { brand_safety_score: safety, made_for_advertising: safety < 50 },
});

const known: readonly Property[] = [
  site("outdoormagazine.example", ["outdoor", "magazine"], 96),
  site("hikingtrails.example", ["outdoor", "travel"], 91),
  site("campinggear.example", ["outdoor", "shopping"], 88),
  site("mountaineering.example", ["outdoor", "sports"], 93, ["US", "CH"]),
  site("citynews.example", ["news"], 74),
  site("quickclicks.example", ["aggregator"], 31),
];

export const fixtures: readonly Fixture[] = known.map((body) => ({
  kind: "property",
  owner: "",
  id: body.property_id,
  body,
}));
