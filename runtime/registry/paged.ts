/** The registry's data for its pages. */
import type { Database } from "../db/types.js";
import { explain } from "./explain.js";
import type { PagedData } from "./page-types.js";
import { changesOf, overview, propertiesPage } from "./publisher-pages.js";
import type { AgentSearch } from "./search/search.js";

interface PagedDependencies {
  readonly db: Database;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly publicUrl: string;
  readonly search: AgentSearch;
  /** Throw on what cannot be used. */
  readonly domainOf: (text: string) => string;
  readonly urlOf: (text: string) => string;
}

export const pagedData = ({ db, now, publicUrl, search, domainOf, urlOf }: PagedDependencies): PagedData => ({
  explain: async (publisher, agent, asked) => {
    const [domain, agentUrl] = [domainOf(publisher), urlOf(agent)];
    return db.read((q) => explain(q, { domain, agentUrl, asked, now: now() }));
  },
  overview: async (publisher, agents) => {
    const domain = domainOf(publisher);
    return db.read((q) => overview(q, domain, { ...agents, publicUrl, now: now() }));
  },
  propertiesPage: async (publisher, request) => {
    const domain = domainOf(publisher);
    return db.read((q) => propertiesPage(q, domain, request));
  },
  changesOf: async (publisher, limit) => {
    const domain = domainOf(publisher);
    return db.read((q) => changesOf(q, domain, limit));
  },
  facets: search.facets,
  marketMap: search.marketMap,
});
