/** Agents, publishers and brands in pages, and what is found of a word. */

import {
  type ApiHandlers,
  type ApiRequest,
  LOOKUP_CACHE,
  type RegistryServerDependencies,
  within,
} from "../api-request.js";
import type { Problem } from "../problems.js";
import { notFound, unavailable } from "../problems.js";
import { agentOf, pageOf } from "./inputs.js";

/** The document's own defaults. */
const LIST_LIMIT = 5_000;
const PAGE_LIMIT = 100;
const FIND_LIMIT = 10;
const DIRECTORY_LIMIT = 200;
/** Domains of one agent in one answer. */
const AGENT_DOMAINS = 10_000;

const CACHED = { "cache-control": LOOKUP_CACHE };

type Ids =
  | "listAgents"
  | "discoverAgent"
  | "listPublishers"
  | "listAgentDomains"
  | "readAgentPublishers"
  | "readAgentPublishersLegacy"
  | "listProperties"
  | "listBrands"
  | "findBrands"
  | "searchAll"
  | "validatePropertyAuthorization";

const unknownAgent = (agentUrl: string): Problem => notFound("No such agent", { more: { agent_url: agentUrl } });

/** The directory's own shape of an agent's publishers: what their files say, and nothing that is only claimed. */
const directoryOf =
  ({ data }: RegistryServerDependencies) =>
  async ({ params, query }: Pick<ApiRequest<"readAgentPublishers">, "params" | "query">) => {
    const agentUrl = agentOf(params.agent_url);
    const { cursor, limit = DIRECTORY_LIMIT, since, include } = query;
    const properties = include?.includes("properties") === true;
    const wanted = { limit, source: "adagents_json", properties, ...(cursor !== undefined && { cursor }) } as const;
    const page = await within(data.agentPublishers(agentUrl, wanted));
    if (page === undefined) throw unknownAgent(agentUrl);
    const { publishers, cursor: next } = pageOf(page);
    const wantsStanding = query.status === undefined || query.status.includes("authorized");
    const shown = (wantsStanding ? publishers : []).filter(
      ({ last_validated }) => since === undefined || Date.parse(last_validated ?? "") >= Date.parse(since),
    );
    const validated = shown.flatMap(({ last_validated }) => last_validated ?? []).sort();
    const body = {
      agent_url: agentUrl,
      directory_indexed_at: validated.at(-1) ?? null,
      publishers: shown.map((one) => ({
        publisher_domain: one.publisher_domain,
        discovery_method: one.discovery_method,
        manager_domain: one.manager_domain,
        properties_authorized: one.properties_authorized,
        properties_total: one.properties_total,
        ...(one.property_ids !== undefined && { property_ids: one.property_ids }),
        signing_keys_pinned: one.signing_keys_pinned ?? false,
        status: "authorized" as const,
        last_verified_at: one.last_validated,
      })),
      next_cursor: next,
    };
    return { body, headers: CACHED };
  };

/** Whether a publisher lets an agent sell one property. */
const propertyChecks =
  ({ data, now }: RegistryServerDependencies) =>
  async ({ query }: ApiRequest<"validatePropertyAuthorization">) => {
    const agentUrl = agentOf(query.agent_url);
    const { identifier_type, identifier_value } = query;
    const { agents, truncated } = await within(data.lookupProperty(identifier_type, identifier_value, agentUrl));
    const found = agents.find(({ source }) => source !== "agent_claim");
    // A no is certain, or none is given.
    if (found === undefined && truncated === true)
      throw unavailable(
        "Publishers say more of the agent and the identifier than is read at once",
        "publisher_lookup_timeout",
      );
    return {
      body: {
        agent_url: agentUrl,
        identifier_type,
        identifier_value,
        authorized: found !== undefined,
        ...(found !== undefined && { publisher_domain: found.publisher_domain }),
        checked_at: new Date(now()).toISOString(),
      },
      headers: CACHED,
      // When it was looked at is no part of what was found.
      fingerprint: (bytes: Buffer) => bytes.subarray(0, bytes.lastIndexOf('"checked_at"')),
    };
  };

/** Kinds of brands that other registries have, and this one has none of. */
const noStats = { hosted: 0, community: 0, enriched: 0, stub: 0, houses: 0, sub_brands: 0 } as const;

/** Brands in pages; all are from brand files. */
const brandLists =
  ({ data }: RegistryServerDependencies) =>
  async ({ query }: ApiRequest<"listBrands">) => {
    const { search, limit = PAGE_LIMIT, offset = 0, source } = query;
    const none = source !== undefined && source !== "brand_json";
    const brands = none ? [] : await within(data.listBrands({ search, limit, offset }));
    const total = await within(data.brandCount());
    const body = {
      brands: brands.map(({ canonical_domain, brand_name }) => ({
        domain: canonical_domain,
        brand_name,
        source: "brand_json" as const,
        has_manifest: true,
        verified: true,
      })),
      stats: { ...noStats, total, brand_json: total, with_manifest: total },
    };
    return { body, headers: CACHED };
  };

/** What an agent said when it was asked last. */
const discoveries =
  ({ data }: RegistryServerDependencies) =>
  async ({ query }: ApiRequest<"discoverAgent">) => {
    const agentUrl = agentOf(query.url);
    const found = await within(data.listedAgent(agentUrl));
    if (found?.health === undefined) throw unknownAgent(agentUrl);
    const { name, type, protocol, capabilities, health, publisherCount } = found;
    const body = {
      name,
      type,
      protocols: protocol === undefined ? [] : [protocol],
      tools_count: capabilities?.tools_count ?? 0,
      tools: (capabilities?.tools ?? []).map((tool) => ({ name: tool.name })),
      stats: { publisher_count: publisherCount },
      health,
    };
    return { body, headers: CACHED };
  };

export const listRoutes = (dependencies: RegistryServerDependencies): ApiHandlers<Ids> => {
  const { data } = dependencies;
  const directory = directoryOf(dependencies);
  return {
    async listAgents({ query }) {
      const { type, cursor, limit = LIST_LIMIT, properties = false, health, capabilities } = query;
      const wanted = { type, cursor, limit, properties, health, capabilities };
      return { body: await within(data.listAgents(wanted)), headers: CACHED };
    },
    discoverAgent: discoveries(dependencies),
    async listPublishers({ query }) {
      const { cursor, search, limit = LIST_LIMIT } = query;
      return { body: await within(data.listPublishers({ cursor, search, limit })), headers: CACHED };
    },
    async listAgentDomains({ params }) {
      const agentUrl = agentOf(params.agent_url);
      const all = await within(data.agentDomains(agentUrl));
      const domains = all.slice(0, AGENT_DOMAINS);
      const body = { agent_url: agentUrl, domains, count: domains.length };
      return { body: { ...body, ...(all.length > AGENT_DOMAINS && { truncated: true }) }, headers: CACHED };
    },
    readAgentPublishers: directory,
    readAgentPublishersLegacy: directory,
    async listProperties({ query }) {
      const { search, limit = PAGE_LIMIT, offset = 0 } = query;
      const { publishers } = await within(data.listPublishers({ search, limit, offset }));
      const properties = publishers.map((one) => ({
        domain: one.domain,
        source: one.has_valid_adagents ? ("adagents_json" as const) : ("hosted" as const),
        property_count: one.property_count ?? 0,
        agent_count: one.agent_count,
        verified: one.has_valid_adagents,
      }));
      const total = await within(data.publisherCount());
      return { body: { properties, stats: { total, adagents_json: total } }, headers: CACHED };
    },
    listBrands: brandLists(dependencies),
    async findBrands({ query }) {
      return { body: { results: await within(data.findBrands(query.q, query.limit ?? FIND_LIMIT)) }, headers: CACHED };
    },
    async searchAll({ query }) {
      return { body: await within(data.searchAll(query.q)), headers: CACHED };
    },
    validatePropertyAuthorization: propertyChecks(dependencies),
  };
};
