/** Publishers, agents and members enough for every answer of the API to have something in it. */
import { fileProblem } from "../../runtime/registry/file-problems.js";
import type { AgentEntry, CrawlResult, PropertyRecord, RegistryData } from "../../runtime/registry/types.js";
import { START_MS } from "./server-fixture.js";

export const SELLER = "https://seller.example/mcp";
export const OTHER = "https://other.example/Agent";
export const HIDDEN = "https://private.seller.example/mcp";
export const MEMBERS_ONLY = "https://members.seller.example/mcp";
export const NEWS = "news.example";
export const STREAM = "stream.example";
/** Has more agents than get counts. */
export const WIDE = "wide.example";
export const BROKEN = "broken.example";
export const HOSTED = "hosted.example";

export const property = (id: string, type: string, tags: string[], domain: string): PropertyRecord => ({
  id,
  type,
  name: `Property ${id}`,
  identifiers: [{ type: type === "website" ? "domain" : "bundle_id", value: `${id}.${domain}` }],
  tags,
  channels: type === "website" ? ["display"] : ["ctv"],
});

export const entry = (agentUrl: string, more: Partial<AgentEntry> = {}): AgentEntry => ({
  agentUrl,
  authorizedFor: "All inventory",
  authorizationType: null,
  ...more,
});

export function crawlOf(
  domain: string,
  agents: readonly AgentEntry[],
  properties: readonly PropertyRecord[],
  more: Partial<CrawlResult["adagents"]> = {},
): CrawlResult {
  const file = { agents, properties, genres: ["483"], genreTaxonomy: null, lastUpdated: START_MS, others: [] };
  return {
    domain,
    crawledAt: START_MS,
    adagents: {
      outcome: "valid",
      method: "direct",
      managerDomain: null,
      httpStatus: 200,
      bytes: 2_210,
      resolvedUrl: null,
      problems: [],
      file,
      ...more,
    },
    brand: {
      outcome: "present",
      name: `Brand of ${domain}`,
      properties: [],
      agents: [{ url: `https://ads.${domain}/mcp`, type: "sales", id: "desk" }],
      document: {
        url: `https://${domain}/.well-known/brand.json`,
        variant: "brand_canonical",
        file: { id: "brand", names: [{ en: `Brand of ${domain}` }] },
        names: [`Brand of ${domain}`],
      },
    },
  };
}

/** @param organization owns seller.example; every agent of it has another visibility */
export async function seedWorld(data: RegistryData, organization: string): Promise<void> {
  const news = [property("main_site", "website", ["sport"], NEWS), property("app", "ctv_app", ["news"], NEWS)];
  const part = entry(OTHER, { authorizationType: "property_ids", propertyIds: ["app"], countries: ["DE", "AT"] });
  await data.putMember({
    slug: "seller-example",
    organization,
    displayName: "Seller Example",
    tier: "company_standard",
    founding: true,
    isPublic: true,
    domains: [{ domain: "seller.example", verified: true }],
    agents: [],
  });
  const agent = {
    name: "Seller",
    type: "sales",
    deliveryTypes: ["direct"],
    formatKinds: ["video"],
    hasTmp: true,
  } as const;
  await data.registerAgent("seller-example", { ...agent, url: SELLER, visibility: "public" });
  await data.registerAgent("seller-example", { ...agent, url: OTHER, visibility: "public", hasTmp: false });
  await data.registerAgent("seller-example", { ...agent, url: MEMBERS_ONLY, visibility: "members_only" });
  await data.registerAgent("seller-example", { ...agent, url: HIDDEN, visibility: "private" });
  await data.applyCrawl(crawlOf(NEWS, [entry(SELLER), part], news));
  await data.applyCrawl(crawlOf(STREAM, [entry(SELLER)], [property("tv", "ctv_app", ["sport", "live"], STREAM)]));
  const many = Array.from({ length: 60 }, (_, at) => entry(`https://agent-${String(at).padStart(2, "0")}.example/mcp`));
  await data.applyCrawl(crawlOf(WIDE, many, [property("site", "website", [], WIDE)]));
  const failed = crawlOf(BROKEN, [], [], {
    outcome: "invalid",
    httpStatus: 200,
    problems: [fileProblem("agent_url", "/authorized_agents/0", "url is not an https URL")],
  });
  const { file: _, ...adagents } = failed.adagents;
  await data.applyCrawl({ ...failed, adagents, brand: { outcome: "absent", name: null, properties: [], agents: [] } });
  await data.putClaims("https://claims.example/mcp", [{ publisherDomain: NEWS, authorizedFor: "Some of it" }]);
  const hosted = entry(SELLER, { authorizedFor: "Hosted inventory" });
  await data.putHostedFile(HOSTED, {
    file: {
      authorized_agents: [{ url: SELLER, authorized_for: "Hosted inventory" }],
      last_updated: "2026-03-01T00:00:00Z",
    },
    content: { agents: [hosted], properties: [], genres: [], genreTaxonomy: null, lastUpdated: START_MS, others: [] },
  });
}

/** Where there is something to see on every page. */
export const places = [
  "/",
  `/publisher?domain=${NEWS}`,
  `/publisher?domain=${BROKEN}`,
  `/publisher?domain=${WIDE}&q=site`,
  `/agents?channels=display&search=1`,
  `/agent?url=${SELLER}`,
  "/map",
  `/why?domain=${NEWS}&agent=${OTHER}&property=app`,
  "/check",
  `/build?domain=${NEWS}&p0_name=Site&p0_value=${NEWS}&a0_url=x`,
  "/docs",
];
