/** What the registry's bench asks for, and at what rate. */
import type { AgentPublishers, ExpandRequest, SearchFilters } from "../../runtime/registry/types.js";
import type { Request } from "./client.js";
import { agentUrl, publisherDomainAt } from "./inventory.js";
import type { Latencies } from "./open-loop.js";
import type { Served } from "./registry-processes.js";

/** Requests a second. */
export const RATE = 200;
export const REQUESTS = 2_000;
const WARM_UP = 200;
export const PAGE = 50;

/** What is asked, by how much of the agents it matches. */
export const classes: readonly (readonly [name: string, filters: SearchFilters])[] = [
  ["0.01 % of agents", { format_kinds: ["rare"] }],
  ["1 % of agents", { format_kinds: ["seldom"] }],
  ["30 % of agents", { format_kinds: ["common"] }],
  [
    "a rare conjunction",
    { format_kinds: ["common"], markets: ["TR"], tags: ["tag_3_1", "tag_4_2"], delivery_types: ["guaranteed"] },
  ],
  ["no filter", {}],
];

export function searchPath(filters: SearchFilters, cursor?: string | null): string {
  const lists = Object.entries(filters).map(([name, values]) => `${name}=${String(values)}`);
  return `/api/registry/agents/search?${[...lists, `limit=${PAGE}`, ...(cursor ? [`cursor=${cursor}`] : [])].join("&")}`;
}

/** Percentiles at the fixed rate, after some requests that do not count. */
export async function atRate({ client }: Served, paths: readonly string[]): Promise<Latencies> {
  const requests = paths.map((path) => ({ path }));
  await client.measure({ rate: RATE, count: WARM_UP, requests });
  return client.measure({ rate: RATE, count: REQUESTS, requests });
}

/** Properties of one expansion, at least. */
const EXPANDED_PROPERTIES = 1_000;
/** Agents looked at for expansions: the first ones sell for the most publishers. */
const EXPANDING_AGENTS = 100;

/** Pages of what an agent may sell. */
async function* publishersOf(server: Served, agent: string): AsyncGenerator<AgentPublishers["publishers"][number]> {
  const path = `/api/registry/agents/${encodeURIComponent(agent)}/publishers?limit=1000`;
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: AgentPublishers = await server.get(cursor === "" ? path : `${path}&cursor=${cursor}`);
    yield* page.publishers;
    cursor = page.cursor ?? null;
  }
}

export interface Expansions {
  /** Of so many properties, no publisher in two of them: none finds what another left behind. */
  readonly disjoint: Request[];
  /** Of about as many properties that the agent may not sell, of publishers that are in none of the others. */
  readonly others: Request[];
}

/** Publishers of one of the others: they have ten properties each. */
const OTHER_PUBLISHERS = 100;

export async function expansions(server: Served, publishers: number, others: number): Promise<Expansions> {
  const disjoint: Request[] = [];
  const used = new Set<string>();
  for (let agent = 0; agent < EXPANDING_AGENTS; agent++) {
    let [domains, properties]: [string[], number] = [[], 0];
    for await (const { publisher_domain, properties_authorized } of publishersOf(server, agentUrl(agent))) {
      if (used.has(publisher_domain)) continue;
      used.add(publisher_domain);
      domains.push(publisher_domain);
      properties += properties_authorized;
      if (properties < EXPANDED_PROPERTIES) continue;
      disjoint.push(expansionOf(agentUrl(agent), domains));
      [domains, properties] = [[], 0];
    }
  }
  const free = Array.from({ length: publishers }, (_, at) => publisherDomainAt(at)).filter((one) => !used.has(one));
  const parts = Array.from({ length: others }, (_, at) =>
    free.slice(at * OTHER_PUBLISHERS, (at + 1) * OTHER_PUBLISHERS),
  );
  return {
    disjoint,
    others: parts.filter(({ length }) => length > 0).map((domains) => expansionOf(agentUrl(0), domains)),
  };
}

const expansionOf = (agent: string, domains: string[]): Request => ({
  path: "/api/registry/expand/product-identifiers",
  body: { agent_url: agent, publisher_properties: [{ publisher_domains: domains }] } satisfies ExpandRequest,
});
