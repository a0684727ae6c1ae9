/** A registry with something in it for the clients of the official SDKs, and what their methods are asked with. */
import { createProber } from "../../../runtime/registry/probe/prober.js";
import { DOMAIN, lookup, origins, pages } from "../../registry/server-crawl-fixture.js";
import { type Setup, setupRegistry } from "../../registry/server-fixture.js";
import { crawlOf, entry, HOSTED, NEWS, property, SELLER, seedWorld } from "../../registry/server-world.js";

export interface RegistryWorld {
  readonly url: string;
  readonly key: string;
  /** Identifiers of checks that were made. */
  readonly reports: { readonly domains: string; readonly identifiers: string };
  /** A domain that a file is hosted for. */
  readonly hosted: string;
  /** One more publisher lets the seller sell. */
  grant(domain: string): Promise<void>;
  revoke(domain: string): Promise<void>;
  close(): Promise<void>;
}

export async function openRegistryWorld(): Promise<RegistryWorld> {
  const crawl = { fetch: origins(pages), lookup, debounceMs: 0 };
  const setup: Setup = await setupRegistry({ crawling: "queue", crawl, now: Date.now });
  const { id } = await setup.accounts.addOrganization({ name: "Reader", tier: "company_standard" });
  const { key } = await setup.accounts.addKey(id, "clients");
  await seedWorld(setup.registry.data, id);
  const asking = { store: setup.store.database, fetch: origins(pages), publicUrl: "http://localhost", log: undefined };
  await createProber({ ...asking, now: Date.now }).look();
  const url = await setup.registry.listen({ port: 0 });
  const apply = (domain: string, agents: readonly string[]) =>
    setup.registry.data.applyCrawl(
      crawlOf(
        domain,
        agents.map((one) => entry(one)),
        [property("site", "website", [], domain)],
      ),
    );
  const { data } = setup.registry;
  const domains = await data.checkDomains([NEWS]);
  const identifiers = await data.checkIdentifiers([NEWS]);
  return {
    url,
    key,
    hosted: HOSTED,
    reports: { domains: domains.report_id, identifiers: identifiers.report_id },
    grant: async (domain) => void (await apply(domain, [SELLER])),
    revoke: async (domain) => void (await apply(domain, [])),
    close: () => setup.close(),
  };
}

/** A word for each parameter that a method may want, in the names of either SDK. */
export const words: Readonly<Record<string, unknown>> = {
  domain: NEWS,
  domains: [NEWS],
  crawled: DOMAIN,
  url: SELLER,
  agent_url: SELLER,
  agent_urls: [SELLER],
  agent: SELLER,
  publisher_domain: NEWS,
  identifier_type: "bundle_id",
  identifier_value: `app.${NEWS}`,
  type: "bundle_id",
  value: `app.${NEWS}`,
  q: "brand",
  slug: "seller-example",
  identifiers: [{ type: "bundle_id", value: `app.${NEWS}` }],
  provenance: { type: "impression_log" },
  config: { platform: "platform", catalog_etag: "1", formats: [{ format_id: "f" }] },
  publisher_properties: [{ publisher_domain: NEWS, selection_type: "all" }],
  authorized_agents: [
    {
      url: SELLER,
      authorized_for: "All",
      authorization_type: "publisher_properties",
      publisher_properties: [{ publisher_domain: NEWS, selection_type: "all" }],
    },
  ],
};
