/** What agents may sell. */
import { SEARCH_DIMENSIONS, type SearchFilters } from "../../types.js";
import {
  type ApiHandlers,
  type ApiRequest,
  LOOKUP_CACHE,
  type RegistryServerDependencies,
  within,
} from "../api-request.js";
import { whoAsks } from "../limits.js";
import { notFound } from "../problems.js";
import { agentOf, checkedSelectors, pageOf } from "./inputs.js";

/** How long an expansion may be kept: it is made for caching (docs/protocol/registry.md#expansion). */
const EXPANSION_CACHE = "public, max-age=300";

/** docs/protocol/registry.md#agent-search, and the document's own default. */
const SEARCH_LIMIT = 50;
const PUBLISHERS_LIMIT = 200;

/** Filters of a search request; `has_tmp=false` does not restrict (docs/protocol/registry.md#agent-search). */
export function filtersOf(query: ApiRequest<"searchAgents">["query"]): SearchFilters {
  const lists = SEARCH_DIMENSIONS.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]] as const]));
  return {
    ...Object.fromEntries(lists),
    ...(query.has_tmp === true && { has_tmp: true }),
    ...(query.min_properties !== undefined && { min_properties: query.min_properties }),
  };
}

type Ids =
  | "expandProductIdentifiers"
  | "searchAgents"
  | "listAgentPublishers"
  | "validateProductAuthorization"
  | "readStats";

export const agentRoutes = ({ data }: RegistryServerDependencies): ApiHandlers<Ids> => ({
  async expandProductIdentifiers({ body, request }) {
    const bytes = await within(data.expandBytes(checkedSelectors(body), whoAsks(request)));
    return { body: bytes, headers: { "cache-control": EXPANSION_CACHE }, fingerprint: () => bytes.lasting };
  },
  async searchAgents({ query }) {
    const { cursor, limit = SEARCH_LIMIT } = query;
    const page = await within(data.search(filtersOf(query), { limit, ...(cursor !== undefined && { cursor }) }));
    const body = pageOf(page);
    return { body, ...(body.missing_parts && { headers: { "missing-parts": body.missing_parts.join(", ") } }) };
  },
  async listAgentPublishers({ params, query }) {
    const { cursor, source, limit = PUBLISHERS_LIMIT } = query;
    const agentUrl = agentOf(params.agent_url);
    const wanted = { limit, ...(cursor !== undefined && { cursor }), ...(source !== undefined && { source }) };
    const page = await within(data.agentPublishers(agentUrl, wanted));
    if (page === undefined) throw notFound("No such agent", { more: { agent_url: agentUrl } });
    return { body: pageOf(page), headers: { "cache-control": LOOKUP_CACHE } };
  },
  async validateProductAuthorization({ body, request }) {
    return { body: await within(data.validateProduct(checkedSelectors(body), whoAsks(request))) };
  },
  async readStats() {
    return { body: await within(data.stats()), headers: { "cache-control": LOOKUP_CACHE } };
  },
});
