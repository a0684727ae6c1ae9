/** Lists of agents, publishers and brands in pages: each reads as much as it answers. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import type { PublisherRow } from "./registry-publishers.js";

export interface ListedAgentRow {
  readonly id: number;
  readonly url: string;
  readonly name: string | null;
  readonly type: string;
  readonly slug: string | null;
  readonly display_name: string | null;
  readonly lists: string | null;
  readonly property_count: number | null;
  readonly publisher_count: number | null;
  readonly type_counts: string | null;
}

interface AgentsPage {
  /** URL of the last one seen. */
  readonly after: string;
  readonly limit: number;
}

const listed =
  "g.id, g.url, g.name, g.type, m.slug, m.display_name, p.lists, p.property_count, p.publisher_count, p.type_counts";

/** Agents that members show everybody, by URL. */
export const memberAgentsAfter = (
  q: Query,
  { after, limit, type }: AgentsPage & { readonly type: string | undefined },
): Coroutine<ListedAgentRow[]> =>
  q.rows(
    `select ${listed} from adbind_registry_agents g join adbind_registry_members m on m.id = g.member ` +
      "left join adbind_registry_profiles p on p.agent = g.id and p.gone = 0 " +
      `where g.member is not null and g.visibility = 'public' and g.url > ? ${type === undefined ? "" : "and g.type = ? "}` +
      "order by g.url limit ?",
    type === undefined ? [after, limit] : [after, type, limit],
  );

/** Agents of no member that publishers' files authorize, by URL. Nobody says of what type they are. */
export const foundAgentsAfter = (q: Query, { after, limit }: AgentsPage): Coroutine<ListedAgentRow[]> =>
  q.rows(
    `select ${listed.replace("m.slug, m.display_name", "null as slug, null as display_name")} ` +
      "from adbind_registry_profiles p join adbind_registry_agents g on g.id = p.agent " +
      "where p.gone = 0 and p.registered = 0 and p.url > ? order by p.url limit ?",
    [after, limit],
  );

/** One agent, if everybody may see it. */
export function* listedAgentAt(q: Query, url: string): Coroutine<ListedAgentRow | undefined> {
  const rows = yield* q.rows<ListedAgentRow>(
    `select ${listed} from adbind_registry_agents g left join adbind_registry_members m on m.id = g.member ` +
      "left join adbind_registry_profiles p on p.agent = g.id and p.gone = 0 where g.url = ? and " +
      "((g.member is not null and g.visibility = 'public') or (g.member is null and p.agent is not null))",
    [url],
  );
  return rows[0];
}

/** Domains that authorize agents, each once, `limit` at most. */
export const domainsOfAgents = (
  q: Query,
  agents: readonly number[],
  limit: number,
): Coroutine<{ agent: number; domain: string }[]> =>
  q.rows(
    "select distinct f.agent, p.domain from adbind_registry_authorizations a join adbind_registry_publishers p on p.id = a.publisher " +
      "join adbind_registry_feed f on f.publisher = a.publisher and f.agent = a.agent and f.gone = 0 " +
      `where ${q.dialect.among("a.agent", "bigint")} and a.source <> 'agent_claim' order by f.agent, p.domain limit ?`,
    [q.dialect.list(agents), limit],
  );

export interface ListedPublisherRow {
  readonly domain: string;
  readonly valid: number | null;
  readonly validated_at: number | null;
  readonly property_count: number;
  readonly agents: number;
}

/** The end of all texts that begin with one. */
const endOf = (prefix: string): string => `${prefix}\uffff`;

interface PublishersPage {
  readonly after: string;
  /** What domains begin with. */
  readonly prefix: string;
  readonly limit: number;
}

const publisherColumns = (source: string): string =>
  "p.domain, p.valid, p.validated_at, p.property_count, (select count(*) from adbind_registry_authorizations a " +
  `where a.publisher = p.id and a.source = '${source}') as agents`;

/** Publishers whose file is valid, by domain. */
export const validAfter = (q: Query, { after, prefix, limit }: PublishersPage): Coroutine<ListedPublisherRow[]> =>
  q.rows(
    `select ${publisherColumns("adagents_json")} from adbind_registry_publishers p ` +
      "where p.valid = 1 and p.domain > ? and p.domain >= ? and p.domain < ? order by p.domain limit ?",
    [after, prefix, endOf(prefix), limit],
  );

/** Publishers for whom a file is hosted that counts, since their own is not valid; by domain. */
export const hostedPublishersAfter = (
  q: Query,
  { after, prefix, limit }: PublishersPage,
): Coroutine<ListedPublisherRow[]> =>
  q.rows(
    `select ${publisherColumns("aao_hosted")} from adbind_registry_hosted h join adbind_registry_publishers p on p.domain = h.domain ` +
      "where coalesce(p.valid, 0) <> 1 and h.domain > ? and h.domain >= ? and h.domain < ? order by h.domain limit ?",
    [after, prefix, endOf(prefix), limit],
  );

type BrandRow = Pick<PublisherRow, "domain" | "brand_name" | "brand_agents">;

/** Brands in the order of their domains. */
export const brandsAfter = (
  q: Query,
  { prefix, limit, offset }: { readonly prefix: string; readonly limit: number; readonly offset: number },
): Coroutine<BrandRow[]> =>
  q.rows(
    "select domain, brand_name, brand_agents from adbind_registry_publishers where brand_key is not null " +
      "and domain >= ? and domain < ? order by domain limit ? offset ?",
    [prefix, endOf(prefix), limit, offset],
  );

/** Brands whose name begins with something. */
export const brandsNamed = (
  q: Query,
  { prefix, limit, offset }: { readonly prefix: string; readonly limit: number; readonly offset: number },
): Coroutine<BrandRow[]> =>
  q.rows(
    "select domain, brand_name, brand_agents from adbind_registry_publishers where brand_key is not null " +
      "and brand_key >= ? and brand_key < ? order by brand_key, domain limit ? offset ?",
    [prefix, endOf(prefix), limit, offset],
  );

export const brandsOf = (q: Query, domains: readonly string[]): Coroutine<BrandRow[]> =>
  q.rows(
    "select domain, brand_name, brand_agents from adbind_registry_publishers where brand_key is not null " +
      `and ${q.dialect.among("domain", "text")}`,
    [q.dialect.list(domains)],
  );
