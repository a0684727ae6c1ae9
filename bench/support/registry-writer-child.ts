/**
 * An instance that writes what crawls found: some publishers of its own, whose agents others name too. Arguments: the store's
 * URL, a prefix of its publishers, how many. Waits for a line, and reports how long it took.
 */
import { once } from "node:events";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { CrawlResult } from "../../runtime/registry/types.js";
import { openPostgresStore } from "../../runtime/store/index.js";

const [url, prefix, number] = process.argv.slice(2) as [string, string, string];
/** Crawls written at once, as a crawler does with some domains under way. */
const AT_ONCE = 4;
const PROPERTIES = 10;
const AGENTS = 500;

const found = (at: number): CrawlResult => {
  const domain = `${prefix}-${at}.example`;
  const agents = [at % AGENTS, (at * 7) % AGENTS].map((agent) => ({
    agentUrl: `https://${prefix}-agent-${agent}.example/mcp`,
    authorizedFor: "All",
    authorizationType: null,
  }));
  const properties = Array.from({ length: PROPERTIES }, (_, one) => ({
    id: `p${one}`,
    type: "website",
    name: `Site ${one}`,
    identifiers: [{ type: "domain", value: `p${one}.${domain}` }],
    tags: ["all"],
  }));
  const file = { agents, properties, genres: [], genreTaxonomy: null, lastUpdated: null, others: [] };
  const provenance = {
    method: "direct",
    managerDomain: null,
    httpStatus: 200,
    bytes: 1_000,
    resolvedUrl: null,
  } as const;
  return {
    domain,
    crawledAt: Date.now(),
    adagents: { outcome: "valid", ...provenance, problems: [], file },
    brand: { outcome: "absent", name: null, properties: [], agents: [] },
  };
};

const store = await openPostgresStore({ url, connections: AT_ONCE });
const data = createRegistryData(store);
console.log(JSON.stringify({ ready: true }));
await once(process.stdin, "data");
const began = performance.now();
let next = 0;
const work = async (): Promise<void> => {
  while (next < Number(number)) await data.applyCrawl(found(next++));
};
await Promise.all(Array.from({ length: AT_ONCE }, work));
console.log(JSON.stringify({ seconds: (performance.now() - began) / 1000 }));
process.stdin.destroy();
await store.close();
