/** Origins behind an HTTP interceptor, and what a crawl needs to reach them. */
import nock from "nock";
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

export interface Reply {
  readonly status?: number;
  readonly body?: unknown;
  readonly location?: string;
}

/** Answers a GET as often as it is asked. */
export const serve = (url: string, { status = 200, body = "", location }: Reply): nock.Scope => {
  const { origin, pathname } = new URL(url);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return nock(origin)
    .persist()
    .get(pathname)
    .reply(status, text, location === undefined ? {} : { location });
};

/** A domain with the files given, and 404 for the rest. */
export function site(domain: string, files: { adagents?: Reply; ads?: Reply; brand?: Reply }): nock.Scope[] {
  const none: Reply = { status: 404 };
  return [
    serve(`https://${domain}${WELL_KNOWN}`, files.adagents ?? none),
    serve(`https://${domain}/ads.txt`, files.ads ?? none),
    serve(`https://${domain}${BRAND}`, files.brand ?? none),
  ];
}

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
