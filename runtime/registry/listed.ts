/** The registry's data for those who go through it: agents, publishers and brands in pages, and many domains at once. */
import type { Coroutine } from "../db/coroutine.js";
import type { Database, Query } from "../db/types.js";
import { agentsByUrl } from "../store/registry-agents.js";
import {
  agentsAfter,
  brandsAfter,
  brandsNamed,
  brandsOf,
  domainsOfAgents,
  type ListedAgentRow,
  type ListedPublisherRow,
  validAfter,
} from "../store/registry-lists.js";
import { counts } from "../store/registry-profiles.js";
import { lookupProperty } from "./inverse.js";
import type { AgentList, FoundAll, ListedData, PublisherList, ResolvedBrand } from "./listed-types.js";
import { byCodePoint, isoOrNull } from "./model.js";
import type { AgentType, BrandAgent } from "./types.js";

/** Domains in one list of agents, and of one agent. */
const LIST_DOMAINS = 100_000;
const AGENT_DOMAINS = 10_000;
/** Of each kind in one search. */
const FOUND = 5;

/** Position in a list that is ordered by a text. */
const cursorOf = (text: string | undefined): string | null =>
  text === undefined ? null : Buffer.from(text).toString("base64url");
const afterOf = (cursor: string | undefined): string =>
  cursor === undefined ? "" : Buffer.from(cursor, "base64url").toString("utf8");

function listedAgent(row: ListedAgentRow, domains: readonly string[] | undefined): AgentList["agents"][number] {
  const lists = JSON.parse(row.lists ?? "[]") as string[][];
  return {
    url: row.url,
    name: row.name ?? row.display_name ?? new URL(row.url).hostname,
    type: row.type as AgentType,
    ...(row.slug !== null && { member: { slug: row.slug, display_name: row.display_name ?? row.slug } }),
    ...(domains !== undefined && {
      publisher_domains: domains,
      property_summary: {
        total_count: row.property_count ?? 0,
        count_by_type: {},
        tags: lists[4] ?? [],
        publisher_count: row.publisher_count ?? 0,
      },
    }),
  };
}

const listedPublisher = (row: ListedPublisherRow): PublisherList["publishers"][number] => {
  const validated = isoOrNull(row.validated_at);
  return {
    domain: row.domain,
    agent_count: row.agents,
    property_count: row.property_count,
    has_valid_adagents: row.valid === 1,
    ...(validated !== null && { last_validated: validated }),
  };
};

function resolvedBrand(row: { domain: string; brand_name: string | null; brand_agents: string | null }): ResolvedBrand {
  const agents = JSON.parse(row.brand_agents ?? "[]") as BrandAgent[];
  const own = agents.find(({ type }) => type === "brand");
  return {
    canonical_id: row.domain,
    canonical_domain: row.domain,
    brand_name: row.brand_name ?? row.domain,
    source: "brand_json",
    ...(own !== undefined && { brand_agent_url: own.url }),
  };
}

type AgentsWanted = Parameters<ListedData["listAgents"]>[0];

function* agentList(q: Query, { cursor, limit, type, properties }: AgentsWanted): Coroutine<AgentList> {
  const rows = yield* agentsAfter(q, { after: afterOf(cursor), limit: limit + 1, type });
  let shown = rows.slice(0, limit);
  let domains: Map<number, string[]> | undefined;
  if (properties) {
    const found = yield* domainsOfAgents(
      q,
      shown.map(({ id }) => id),
      LIST_DOMAINS,
    );
    domains = new Map();
    for (const { agent, domain } of found) domains.set(agent, [...(domains.get(agent) ?? []), domain]);
    // An agent whose domains did not all fit begins the next page; one alone has more than a page of them anyway.
    const last = found.length === LIST_DOMAINS ? found.at(-1)!.agent : undefined;
    if (last !== undefined) shown = shown.filter(({ id }, at) => at === 0 || id < last);
  }
  const more = rows.length > shown.length;
  return {
    agents: shown.map((row) => listedAgent(row, properties ? (domains?.get(row.id) ?? []) : undefined)),
    count: shown.length,
    cursor: more ? cursorOf(shown.at(-1)?.url) : null,
    has_more: more,
  };
}

/** Brands by the beginning of their domain, then of their name. */
function* brandsLike(q: Query, text: string, limit: number): Coroutine<ResolvedBrand[]> {
  const page = { prefix: text.trim().toLowerCase(), limit, offset: 0 };
  const found = new Map<string, ResolvedBrand>();
  for (const row of [...(yield* brandsNamed(q, page)), ...(yield* brandsAfter(q, page))])
    if (found.size < limit) found.set(row.domain, resolvedBrand(row));
  return [...found.values()];
}

const noPrefix = { after: "", offset: 0 } as const;

function* searchEverything(q: Query, text: string, now: number): Coroutine<FoundAll> {
  const prefix = text.trim().toLowerCase();
  const publishers = yield* validAfter(q, { ...noPrefix, prefix, limit: FOUND });
  const property = yield* lookupProperty(q, "domain", prefix, now);
  const domains = [...new Set(property.agents.map(({ publisher_domain }) => publisher_domain))].sort(byCodePoint);
  return {
    brands: yield* brandsLike(q, text, FOUND),
    publishers: publishers.map(listedPublisher),
    properties: domains.slice(0, FOUND).map((domain) => ({ publisher_domain: domain, name: prefix, type: "domain" })),
  };
}

interface Parts {
  readonly db: Database;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Throws on what cannot be used. */
  readonly urlOf: (text: string) => string;
}

export const listedData = ({ db, now, urlOf }: Parts): ListedData => ({
  listAgents: (wanted) => db.read((q) => agentList(q, wanted)),
  listPublishers: ({ cursor, limit, offset = 0, search = "" }) =>
    db.read(function* (q): Coroutine<PublisherList> {
      const prefix = search.trim().toLowerCase();
      const rows = yield* validAfter(q, { after: afterOf(cursor), prefix, limit: limit + 1, offset });
      const shown = rows.slice(0, limit);
      const more = rows.length > limit;
      return {
        publishers: shown.map(listedPublisher),
        count: shown.length,
        cursor: more ? cursorOf(shown.at(-1)?.domain) : null,
        has_more: more,
      };
    }),
  agentDomains: async (agent) => {
    const url = urlOf(agent);
    return db.read(function* (q): Coroutine<string[]> {
      const [row] = yield* agentsByUrl(q, [url]);
      if (row === undefined) return [];
      return (yield* domainsOfAgents(q, [row.id], AGENT_DOMAINS + 1)).map(({ domain }) => domain);
    });
  },
  resolveBrands: (domains) =>
    db.read(function* (q): Coroutine<Map<string, ResolvedBrand>> {
      return new Map((yield* brandsOf(q, domains)).map((row) => [row.domain, resolvedBrand(row)]));
    }),
  listBrands: ({ search = "", limit, offset }) =>
    db.read(function* (q): Coroutine<ResolvedBrand[]> {
      const prefix = search.trim().toLowerCase();
      const read = prefix === "" ? brandsAfter : brandsNamed;
      const named = yield* read(q, { prefix, limit, offset });
      // What no name begins with may still be the beginning of a domain.
      const rows = named.length > 0 || prefix === "" ? named : yield* brandsAfter(q, { prefix, limit, offset });
      return rows.map(resolvedBrand);
    }),
  findBrands: (text, limit) => db.read((q) => brandsLike(q, text, limit)),
  searchAll: (text) => db.read((q) => searchEverything(q, text, now())),
  publisherCount: () =>
    db.read(function* (q): Coroutine<number> {
      const rows = yield* counts(q);
      return rows.find(({ kind, name }) => kind === "publishers" && name === "discovered")?.count ?? 0;
    }),
});
