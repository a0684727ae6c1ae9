/** Files as publishers write them, and what a crawl needs to reach them. */
import { createGuardedFetch } from "../../runtime/net/index.js";
import type { CrawlContext } from "../../runtime/registry/crawl/crawl.js";

export const NOW = Date.UTC(2026, 2, 2, 10);
export const WELL_KNOWN = "/.well-known/adagents.json";
export const BRAND = "/.well-known/brand.json";

export const publicLookup = async () => [{ address: "93.184.215.14", family: 4 }];

/** Whatever `fetch` is then: the interceptor takes the global one's place. */
export const interceptedFetch = createGuardedFetch({
  lookup: publicLookup,
  fetch: (...args) => globalThis.fetch(...args),
});

export const context = (given: Partial<CrawlContext> = {}): CrawlContext => ({
  fetch: interceptedFetch,
  publicUrl: "https://registry.example",
  hostedFile: async () => undefined,
  now: () => NOW,
  revokedBy: async () => [],
  ...given,
});

export const agent = (more: object = {}): object => ({
  url: "https://agent.example/",
  authorized_for: "display",
  authorization_type: "property_ids",
  property_ids: ["home"],
  ...more,
});

export const property = (more: object = {}): object => ({
  property_id: "home",
  property_type: "website",
  name: "Home",
  identifiers: [{ type: "domain", value: "news.example" }],
  ...more,
});

export const file = (more: object = {}): object => ({
  authorized_agents: [agent()],
  properties: [property()],
  ...more,
});
