/** What a registry keeps, one of each kind. */
import type { RegistryData } from "../../runtime/registry/types.js";
import { agent, crawl, entry, member, NOW, OTHER, property, SELLER } from "./data-fixture.js";

/** One of everything that a registry keeps. */
export async function filled(data: RegistryData): Promise<void> {
  const sporty = { tags: ["sport"], channels: ["olv"] };
  const window = { effectiveFrom: NOW - 5, effectiveUntil: NOW + 1_000 };
  await data.putMember(
    member("m", {
      organization: "org",
      tier: "company_icl",
      domains: [{ domain: "m.example", verified: true }],
      agents: [agent(SELLER)],
    }),
  );
  await data.applyCrawl(
    crawl(
      "news.example",
      {
        properties: [property("main", sporty), property(null, { type: "radio", identifiers: [] })],
        agents: [
          entry(SELLER, {
            authorizationType: "property_tags",
            propertyTags: ["sport"],
            countries: ["DE"],
            ...window,
          }),
          entry(SELLER, { authorizationType: "inline_properties", properties: [property("extra")], exclusive: true }),
          entry(OTHER, {
            authorizationType: "publisher_properties",
            publisherProperties: [{ propertyTypes: ["radio"] }],
          }),
        ],
        genres: ["5"],
        others: [
          { publisherDomain: "child.example", agent: entry(OTHER, { signingKeys: [{ kid: "k", kty: "OKP" }] }) },
        ],
      },
      {
        brand: {
          outcome: "present",
          name: "News",
          properties: [{ type: null, identifier: "n.example", relationship: "delegated" }],
          agents: [{ url: OTHER, type: "sales", id: "n_sales", description: "Sells." }],
        },
      },
    ),
  );
  await data.putClaims(OTHER, [{ publisherDomain: "news.example", authorizedFor: "Mine" }]);
  const content = {
    agents: [entry(OTHER)],
    properties: [property("h")],
    genres: [],
    genreTaxonomy: null,
    lastUpdated: null,
    others: [],
  };
  await data.putHostedFile("hosted.example", { file: { authorized_agents: [{ url: OTHER }] }, content });
}
