/** Agents, members and hosted files of a registry, as rows. */
import type { Coroutine } from "../db/coroutine.js";
import type { Columns, Query, Value } from "../db/types.js";

export interface AgentRow {
  readonly id: number;
  readonly url: string;
  readonly member: number | null;
  readonly name: string | null;
  readonly type: string;
  readonly visibility: string | null;
  readonly delivery_types: string | null;
  readonly format_kinds: string | null;
  readonly has_tmp: number;
}

export interface MemberRow {
  readonly id: number;
  readonly slug: string;
  readonly organization: string | null;
  readonly display_name: string;
  readonly tier: string | null;
  readonly founding: number;
  readonly is_public: number;
}

export interface MemberDomainRow {
  readonly domain: string;
  readonly member: number;
  readonly verified: number;
}

export interface HostedRow {
  readonly domain: string;
  readonly file: string;
  readonly updated_at: number;
  readonly origin_verified_at: number | null;
  readonly origin_checked_at: number | null;
}

/** Under this name whoever goes by agents' numbers keeps them from being removed meanwhile. */
export const NUMBERED_AGENTS = "registry agents";

/**
 * The numbers of agents, made where missing. They stay until the transaction ends, and for as long as something is known of an agent.
 * @param urls canonical, distinct and sorted
 */
export function* ensureAgents(q: Query, urls: readonly string[]): Coroutine<Map<string, number>> {
  const find = `select id, url from adbind_registry_agents where ${q.dialect.among("url", "text")}`;
  if (urls.length === 0) return new Map();
  const list = q.dialect.list(urls);
  yield* q.share(NUMBERED_AGENTS);
  const before = yield* q.rows<Pick<AgentRow, "id" | "url">>(find, [list]);
  const ids = new Map(before.map(({ id, url }) => [url, id]));
  if (ids.size === urls.length) return ids;
  const fresh = urls.filter((url) => !ids.has(url)).map((url) => [url]);
  yield* q.insert("adbind_registry_agents", [["url", "text"]], fresh, "on conflict do nothing");
  for (const { id, url } of yield* q.rows<Pick<AgentRow, "id" | "url">>(find, [list])) ids.set(url, id);
  return ids;
}

/**
 * Holds agents until the transaction ends: what they say of themselves, and what comes of it all, is written by one at a time.
 * After publishers, where those are held too, so that no two transactions wait for each other.
 */
export function* lockAgents(q: Query, ids: readonly number[]): Coroutine<void> {
  if (ids.length === 0 || q.dialect.turns) return;
  const among = q.dialect.among("id", "bigint");
  yield* q.rows(`select id from adbind_registry_agents where ${among} order by id${q.dialect.forUpdate}`, [
    q.dialect.list(ids),
  ]);
}

export const agentsByUrl = (q: Query, urls: readonly string[]): Coroutine<AgentRow[]> =>
  q.rows(`select * from adbind_registry_agents where ${q.dialect.among("url", "text")}`, [q.dialect.list(urls)]);

export const agentsById = (q: Query, ids: readonly number[]): Coroutine<AgentRow[]> =>
  q.rows(`select * from adbind_registry_agents where ${q.dialect.among("id", "bigint")}`, [q.dialect.list(ids)]);

export const agentsOfMembers = (q: Query, members: readonly number[]): Coroutine<AgentRow[]> =>
  q.rows(`select * from adbind_registry_agents where ${q.dialect.among("member", "bigint")} order by url`, [
    q.dialect.list(members),
  ]);

const registrationColumns: Columns = [
  ["url", "text"],
  ["member", "bigint"],
  ["name", "text"],
  ["type", "text"],
  ["visibility", "text"],
  ["delivery_types", "text"],
  ["format_kinds", "text"],
  ["has_tmp", "bigint"],
];

/** Registers agents with members, or changes what is registered. */
export function* registerAgents(q: Query, rows: readonly Omit<AgentRow, "id">[]): Coroutine<void> {
  const set = registrationColumns.slice(1).map(([name]) => `${name} = excluded.${name}`);
  const values = rows.map((row) => registrationColumns.map(([name]) => row[name as keyof typeof row] as Value));
  yield* q.insert(
    "adbind_registry_agents",
    registrationColumns,
    values,
    `on conflict (url) do update set ${set.join(", ")}`,
  );
}

/** Makes agents nobody's; what publishers say of them stays. */
export const releaseAgents = (q: Query, ids: readonly number[]): Coroutine<unknown> =>
  q.rows(
    "update adbind_registry_agents set member = null, name = null, type = 'unknown', visibility = null, " +
      `delivery_types = null, format_kinds = null, has_tmp = 0 where ${q.dialect.among("id", "bigint")}`,
    [q.dialect.list(ids)],
  );

export function* memberBySlug(q: Query, slug: string): Coroutine<MemberRow | undefined> {
  return (yield* q.rows<MemberRow>("select * from adbind_registry_members where slug = ?", [slug]))[0];
}

/** As `memberBySlug`, and holds it until the transaction ends. */
export function* lockMember(q: Query, slug: string): Coroutine<MemberRow | undefined> {
  const text = `select * from adbind_registry_members where slug = ?${q.dialect.forUpdate}`;
  return (yield* q.rows<MemberRow>(text, [slug]))[0];
}

export function* memberByOrganization(q: Query, organization: string): Coroutine<MemberRow | undefined> {
  const rows = yield* q.rows<MemberRow>("select * from adbind_registry_members where organization = ?", [organization]);
  return rows[0];
}

export const membersById = (q: Query, ids: readonly number[]): Coroutine<MemberRow[]> =>
  q.rows(`select * from adbind_registry_members where ${q.dialect.among("id", "bigint")}`, [q.dialect.list(ids)]);

export const membersAfter = (q: Query, after: string, limit: number): Coroutine<MemberRow[]> =>
  q.rows("select * from adbind_registry_members where slug > ? order by slug limit ?", [after, limit]);

/** Adds a member or replaces the one of that slug; answers its number. */
export function* putMemberRow(q: Query, row: Omit<MemberRow, "id">): Coroutine<number> {
  const rows = yield* q.rows<{ id: number }>(
    "insert into adbind_registry_members (slug, organization, display_name, tier, founding, is_public) values (?, ?, ?, ?, ?, ?) " +
      "on conflict (slug) do update set organization = excluded.organization, display_name = excluded.display_name, " +
      "tier = excluded.tier, founding = excluded.founding, is_public = excluded.is_public returning id",
    [row.slug, row.organization, row.display_name, row.tier, row.founding, row.is_public],
  );
  return rows[0]!.id;
}

export function* removeMemberRow(q: Query, id: number): Coroutine<void> {
  yield* q.rows("delete from adbind_registry_member_domains where member = ?", [id]);
  yield* q.rows("delete from adbind_registry_members where id = ?", [id]);
}

export function* replaceDomains(q: Query, member: number, rows: readonly MemberDomainRow[]): Coroutine<void> {
  yield* q.rows("delete from adbind_registry_member_domains where member = ?", [member]);
  const columns: Columns = [
    ["domain", "text"],
    ["member", "bigint"],
    ["verified", "bigint"],
  ];
  const values = rows.map((row) => [row.domain, row.member, row.verified]);
  yield* q.insert("adbind_registry_member_domains", columns, values);
}

export const domainsOfMembers = (q: Query, members: readonly number[]): Coroutine<MemberDomainRow[]> =>
  q.rows(`select * from adbind_registry_member_domains where ${q.dialect.among("member", "bigint")} order by domain`, [
    q.dialect.list(members),
  ]);

/** Verified owners of any of these domains. */
export const domainOwners = (q: Query, domains: readonly string[]): Coroutine<MemberDomainRow[]> =>
  q.rows(
    `select * from adbind_registry_member_domains where verified = 1 and ${q.dialect.among("domain", "text")} order by domain, member`,
    [q.dialect.list(domains)],
  );

/** Members' verified domains that no crawl has seen. */
export const domainsNeverCrawled = (q: Query, limit: number): Coroutine<{ domain: string }[]> =>
  q.rows(
    "select distinct d.domain from adbind_registry_member_domains d left join adbind_registry_publishers p on p.domain = d.domain " +
      "where d.verified = 1 and p.crawled_at is null order by d.domain limit ?",
    [limit],
  );

export function* hostedByDomain(q: Query, domain: string): Coroutine<HostedRow | undefined> {
  const rows = yield* q.rows<HostedRow>("select * from adbind_registry_hosted where domain = ?", [domain]);
  return rows[0];
}

export const putHosted = (q: Query, domain: string, file: string, now: number): Coroutine<unknown> =>
  q.rows(
    "insert into adbind_registry_hosted (domain, file, updated_at) values (?, ?, ?) " +
      "on conflict (domain) do update set file = excluded.file, updated_at = excluded.updated_at",
    [domain, file, now],
  );

export function* removeHosted(q: Query, domain: string): Coroutine<boolean> {
  const rows = yield* q.rows("delete from adbind_registry_hosted where domain = ? returning domain", [domain]);
  return rows.length > 0;
}

export const hostedDue = (q: Query, before: number, limit: number): Coroutine<{ domain: string }[]> =>
  q.rows(
    "select domain from adbind_registry_hosted where origin_checked_at is null or origin_checked_at < ? " +
      "order by coalesce(origin_checked_at, 0), domain limit ?",
    [before, limit],
  );

export const hostedAfter = (q: Query, after: string, limit: number): Coroutine<HostedRow[]> =>
  q.rows("select * from adbind_registry_hosted where domain > ? order by domain limit ?", [after, limit]);

/** @param verified the origin points at the hosted file now */
export const originChecked = (q: Query, domain: string, verified: boolean, at: number): Coroutine<unknown> =>
  q.rows("update adbind_registry_hosted set origin_checked_at = ?, origin_verified_at = ? where domain = ?", [
    at,
    verified ? at : null,
    domain,
  ]);
