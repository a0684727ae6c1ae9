/** Questions about publishers, their properties and who may sell them. */
import type { Coroutine } from "../db/coroutine.js";
import { likePart } from "../db/like.js";
import type { ListValue, Query } from "../db/types.js";
import { IDENTIFIER_LIMIT_PLACES } from "./registry-identifiers.js";
import type { EdgeRow, EdgeSource, PropertyRow, PropertySource, PublisherRow } from "./registry-publishers.js";

export const publishersByDomain = (q: Query, domains: readonly string[]): Coroutine<PublisherRow[]> =>
  q.rows(`select * from adbind_registry_publishers where ${q.dialect.among("domain", "text")}`, [
    q.dialect.list(domains),
  ]);

export const publishersById = (q: Query, ids: readonly number[]): Coroutine<PublisherRow[]> =>
  q.rows(`select * from adbind_registry_publishers where ${q.dialect.among("id", "bigint")}`, [q.dialect.list(ids)]);

export const propertiesOf = (q: Query, publishers: readonly number[]): Coroutine<PropertyRow[]> =>
  q.rows(
    `select * from adbind_registry_properties where ${q.dialect.among("publisher", "bigint")} order by publisher, source, position`,
    [q.dialect.list(publishers)],
  );

/** How many properties a publisher has of one source. */
export function* propertyCount(q: Query, publisher: number, source: PropertySource): Coroutine<number> {
  const text = "select count(*) as n from adbind_registry_properties where publisher = ? and source = ?";
  return Number((yield* q.rows<{ n: number }>(text, [publisher, source]))[0]!.n);
}

/** A publisher's properties of one source, in the order of its file, from one of them on. */
export const propertiesFrom = (
  q: Query,
  { publisher, source, offset, limit }: { publisher: number; source: PropertySource; offset: number; limit: number },
): Coroutine<PropertyRow[]> =>
  q.rows(
    "select * from adbind_registry_properties where publisher = ? and source = ? and position >= ? order by position limit ?",
    [publisher, source, offset, limit],
  );

/** Keys of a publisher's properties of one source, in the order of its file. */
export const propertyKeys = (q: Query, publisher: number, source: PropertySource): Coroutine<{ key: string }[]> =>
  q.rows("select key from adbind_registry_properties where publisher = ? and source = ? order by position", [
    publisher,
    source,
  ]);

/** Those of a publisher's properties of one source that have some keys, in the order of its file. */
export const propertiesAt = (
  q: Query,
  { publisher, source, keys }: { publisher: number; source: PropertySource; keys: readonly string[] },
): Coroutine<PropertyRow[]> =>
  q.rows(
    `select * from adbind_registry_properties where publisher = ? and source = ? and ${q.dialect.among("key", "text")} order by position`,
    [publisher, source, q.dialect.list(keys)],
  );

export type EdgeWithUrl = EdgeRow & { readonly url: string };

/** What publishers say themselves, and files hosted for them: as many as a file may have. */
export const ownEdgesOf = (q: Query, publishers: readonly number[]): Coroutine<EdgeWithUrl[]> =>
  q.rows(
    "select a.*, g.url from adbind_registry_authorizations a join adbind_registry_agents g on g.id = a.agent " +
      `where ${q.dialect.among("a.publisher", "bigint")} and a.source in ('aao_hosted', 'adagents_json') ` +
      "order by a.publisher, a.source, g.url",
    [q.dialect.list(publishers)],
  );

/** An edge as it is worked out, without its entries: each may name every property of a large file. */
export interface EdgeFacts extends Pick<EdgeRow, "source" | "authorized_for" | "wide" | "covered"> {
  readonly url: string;
  /** Something of it is in effect. */
  readonly stands: number;
  /** Those of one whose time has come, which is to be worked out again; else null. */
  readonly entries: string | null;
}

/** What a publisher says of agents, or the file hosted for it, at a time in unix milliseconds. */
export const edgeFactsOf = (q: Query, publisher: number, now: number): Coroutine<EdgeFacts[]> =>
  q.rows(
    "select a.source, a.authorized_for, a.wide, a.covered, case when a.wide = 1 or a.coverage is not null then 1 else 0 end as stands, " +
      "case when a.changes_at <= ? then a.entries end as entries, g.url " +
      "from adbind_registry_authorizations a join adbind_registry_agents g on g.id = a.agent " +
      "where a.publisher = ? and a.source in ('aao_hosted', 'adagents_json') order by a.source, g.url",
    [now, publisher],
  );

/** What publishers, or files hosted for them, say of one agent. */
export const edgesBetween = (q: Query, agent: number, publishers: readonly number[]): Coroutine<EdgeRow[]> =>
  q.rows(
    `select * from adbind_registry_authorizations where agent = ? and ${q.dialect.among("publisher", "bigint")} ` +
      "and source in ('aao_hosted', 'adagents_json') order by publisher, source",
    [agent, q.dialect.list(publishers)],
  );

/** Properties of one publisher that somebody names: by the publisher's own name for them, or by an identifier. */
export const propertiesNamed = (q: Query, publisher: number, name: string): Coroutine<PropertyRow[]> => {
  const value = name.trim().toLowerCase();
  return q.rows(
    "select * from adbind_registry_properties p where p.publisher = ? and (p.key = ? or exists (select 1 from " +
      "adbind_registry_identifiers i where i.value = ? and i.publisher = p.publisher and i.source = p.source and i.key = p.key)) " +
      "order by p.source, p.position limit ?",
    [publisher, `#${name.trim()}`, value, IDENTIFIER_LIMIT_PLACES],
  );
};

/**
 * From which sources a publisher has properties. The least place is in an index; whether there is any, PostgreSQL may look for through the
 * whole table, where one publisher has much of it.
 */
export const propertySources = (q: Query, publisher: number): Coroutine<{ source: PropertySource }[]> =>
  q.rows(
    ["adagents_json", "aao_hosted", "brand_json", "discovered"]
      .map(
        (one) =>
          `select '${one}' as source where (select min(position) from adbind_registry_properties where publisher = ? and source = '${one}') is not null`,
      )
      .join(" union all "),
    [publisher, publisher, publisher, publisher],
  );

interface MatchingProperties {
  readonly publisher: number;
  readonly sources: readonly PropertyRow["source"][];
  /** Without case, in names, identifiers and labels; empty is any. */
  readonly text: string;
  readonly type: string;
}

const matching = (
  q: Query,
  { publisher, sources, text, type }: MatchingProperties,
): { condition: string; values: (string | number | ListValue)[] } => {
  const like = `%${likePart(text.toLowerCase())}%`;
  // A database whose language is Turkish makes another letter of I.
  const within = ["name", "key", "identifiers", "tags"].map(
    (column) => `lower(replace(${column}, 'I', 'i')) like ? escape '!'`,
  );
  return {
    condition:
      `publisher = ? and ${q.dialect.among("source", "text")}` +
      (type === "" ? "" : " and type = ?") +
      (text === "" ? "" : ` and (${within.join(" or ")})`),
    values: [
      publisher,
      q.dialect.list(sources),
      ...(type === "" ? [] : [type]),
      ...(text === "" ? [] : within.map(() => like)),
    ],
  };
};

/** Properties of a publisher that match, in the order of their keys. */
export const propertiesMatching = (
  q: Query,
  given: MatchingProperties & {
    readonly after: { readonly source: string; readonly key: string };
    readonly limit: number;
  },
): Coroutine<PropertyRow[]> => {
  const { condition, values } = matching(q, given);
  const { after, limit } = given;
  return q.rows(
    `select * from adbind_registry_properties where ${condition} and (source, key) > (?, ?) order by source, key limit ?`,
    [...values, after.source, after.key, limit],
  );
};

/** How many match, up to a number. */
export function* matchingProperties(q: Query, given: MatchingProperties, limit: number): Coroutine<number> {
  const { condition, values } = matching(q, given);
  const text = `select count(*) as found from (select 1 as one from adbind_registry_properties where ${condition} limit ?) c`;
  return (yield* q.rows<{ found: number }>(text, [...values, limit]))[0]!.found;
}

/** What publishers call the properties of one source. */
export const slugsOf = (
  q: Query,
  publishers: readonly number[],
  source: EdgeSource,
): Coroutine<{ publisher: number; slug: string }[]> =>
  q.rows(
    `select publisher, slug from adbind_registry_properties where ${q.dialect.among("publisher", "bigint")} ` +
      "and source = ? and slug is not null order by publisher, position",
    [q.dialect.list(publishers), source],
  );

/** Publishers whose file was imported and never fetched; those only named by others are not among them. */
export const publishersNeverCrawled = (q: Query, limit: number): Coroutine<{ domain: string }[]> =>
  q.rows(
    "select domain from adbind_registry_publishers where crawled_at is null and valid = 1 order by domain limit ?",
    [limit],
  );

export const publishersDue = (q: Query, before: number, limit: number): Coroutine<{ domain: string }[]> =>
  q.rows(
    "select domain from adbind_registry_publishers where crawled_at is not null and crawled_at < ? " +
      "order by crawled_at, domain limit ?",
    [before, limit],
  );

/** Publishers whose file was last valid by a time and not since, locked, in the order in which writers lock them. */
export const publishersStale = (q: Query, before: number, limit: number): Coroutine<PublisherRow[]> => {
  const stale = "valid = 1 and crawled_at > validated_at and validated_at <= ?";
  // The inner order is the index's own: sorted by domain at once, all publishers would be looked at.
  const oldest = `select id from adbind_registry_publishers where ${stale} order by validated_at limit ?`;
  const text = `select * from adbind_registry_publishers where id in (${oldest}) and ${stale} order by domain${q.dialect.forUpdate}`;
  return q.rows(text, [before, limit, before]);
};

/** Publishers after a domain, for reading all of them in pages. */
export const publishersAfter = (q: Query, after: string, limit: number): Coroutine<PublisherRow[]> =>
  q.rows("select * from adbind_registry_publishers where domain > ? order by domain limit ?", [after, limit]);

/** What claimants said, for handing it on. */
export const claimsOf = (
  q: Query,
  claimants: readonly string[],
): Coroutine<(EdgeRow & { readonly domain: string; readonly url: string })[]> =>
  q.rows(
    "select a.*, p.domain, g.url from adbind_registry_authorizations a join adbind_registry_publishers p on p.id = a.publisher " +
      `join adbind_registry_agents g on g.id = a.agent where a.claimant <> '' and ${q.dialect.among("a.claimant", "text")} ` +
      "order by a.claimant, p.domain, g.url",
    [q.dialect.list(claimants)],
  );

/** Those who claim something for themselves: agents, not publishers. */
export const claimantsAfter = (q: Query, after: string, limit: number): Coroutine<{ claimant: string }[]> =>
  q.rows(
    "select distinct claimant from adbind_registry_authorizations where claimant <> '' and claimant like 'http%' " +
      "and claimant > ? order by claimant limit ?",
    [after, limit],
  );
