/** A registry that crawls origins in memory. */
import type { Fetcher, Lookup } from "../../runtime/net/index.js";
import { whole } from "./crawl-fixture.js";
import { type Setup, type SetupOptions, setupRegistry } from "./server-fixture.js";
import { SELLER } from "./server-world.js";

export const DOMAIN = "unseen-news.com";
const file = {
  authorized_agents: [whole(DOMAIN, SELLER)],
  properties: [
    { property_id: "site", property_type: "website", name: "Site", identifiers: [{ type: "domain", value: DOMAIN }] },
  ],
  last_updated: "2026-03-01T00:00:00Z",
};

const answer = (status: number, body: string) => ({
  ok: true as const,
  status,
  headers: { "content-type": "application/json" },
  body: Buffer.from(body),
  truncated: false,
});

export const lookup: Lookup = async (name) => [
  { address: name.startsWith("internal") ? "10.0.0.1" : "93.184.215.14", family: 4 },
];

/** Origins by domain; what is not there is 404. */
export const origins =
  (pages: Record<string, string>): Fetcher =>
  async (url) => ({ ...(pages[url] === undefined ? answer(404, "") : answer(200, pages[url])), url });

export const pages = { [`https://${DOMAIN}/.well-known/adagents.json`]: JSON.stringify(file) };

export async function openCrawling(options: SetupOptions = {}): Promise<{ setup: Setup; token: string }> {
  const setup = await setupRegistry({
    crawling: "on",
    crawl: { fetch: origins(pages), lookup },
    now: Date.now,
    ...options,
  });
  const { id } = await setup.accounts.addOrganization({ name: "O" });
  return { setup, token: (await setup.accounts.addKey(id, "k")).key };
}

export const publisher = async ({ registry }: Setup, domain = DOMAIN) =>
  (await registry.app.inject(`/api/registry/publisher?domain=${domain}`)).json();
