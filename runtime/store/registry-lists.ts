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
}

/** Agents after one, by URL: those that members show everybody, and those of no member that have a profile. */
export const agentsAfter = (
  q: Query,
  { after, limit, type }: { readonly after: string; readonly limit: number; readonly type: string | undefined },
): Coroutine<ListedAgentRow[]> =>
  q.rows(
    "select g.id, g.url, g.name, g.type, m.slug, m.display_name, p.lists, p.property_count, p.publisher_count " +
      "from adbind_registry_agents g left join adbind_registry_members m on m.id = g.member " +
      "left join adbind_registry_profiles p on p.agent = g.id and p.gone = 0 " +
      "where g.url > ? and ((g.member is not null and g.visibility = 'public') or (g.member is null and p.agent is not null)) " +
      `${type === undefined ? "" : "and g.type = ? "}order by g.url limit ?`,
    type === undefined ? [after, limit] : [after, type, limit],
  );

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

/** Publishers after one whose file is valid, by domain. */
export const validAfter = (
  q: Query,
  {
    after,
    prefix,
    limit,
    offset,
  }: { readonly after: string; readonly prefix: string; readonly limit: number; readonly offset: number },
): Coroutine<ListedPublisherRow[]> =>
  q.rows(
    "select p.domain, p.valid, p.validated_at, p.property_count, (select count(*) from adbind_registry_authorizations a " +
      "where a.publisher = p.id and a.source = 'adagents_json') as agents from adbind_registry_publishers p " +
      "where p.valid = 1 and p.domain > ? and p.domain >= ? and p.domain < ? order by p.domain limit ? offset ?",
    [after, prefix, endOf(prefix), limit, offset],
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
