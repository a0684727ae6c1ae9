/** Lists that somebody has, looked at against what is known; and the reports of it. */
import { type Coroutine, wait } from "../db/coroutine.js";
import type { Database, Query } from "../db/types.js";
import type { Expiring } from "./types.js";

export interface KnownDomainRow {
  readonly domain: string;
  readonly valid: number | null;
  readonly property_count: number;
  readonly hosted: number;
}

/** What is known of domains; those of which nothing is are left out. */
export function* knownDomains(q: Query, domains: readonly string[]): Coroutine<KnownDomainRow[]> {
  const some = [q.dialect.list(domains)];
  const publishers = yield* q.rows<Omit<KnownDomainRow, "hosted">>(
    `select domain, valid, property_count from adbind_registry_publishers where ${q.dialect.among("domain", "text")}`,
    some,
  );
  const hosted = yield* q.rows<{ domain: string }>(
    `select domain from adbind_registry_hosted where ${q.dialect.among("domain", "text")}`,
    some,
  );
  const known = new Map<string, KnownDomainRow>(publishers.map((row) => [row.domain, { ...row, hosted: 0 }]));
  for (const { domain } of hosted)
    known.set(domain, { domain, valid: null, property_count: 0, ...known.get(domain), hosted: 1 });
  return [...known.values()];
}

/** Most places of one value looked at: real ones have a handful. */
const VALUE_PLACES = 100;

export interface KnownValueRow {
  readonly value: string;
  /** Domain, type, source, 1 where the publisher's file is valid, and key of the property, with spaces between. */
  readonly place: string | null;
  /** Publishers whose word it is: valid files first, and where there are none, all. */
  readonly publishers: number;
  readonly valid: number;
}

/** Types of which a file names none but its owner's: what is written as a domain under any other proves nothing. */
const OWNED = " and i.type in ('domain', 'subdomain')";

/**
 * Where values stand: the best place of each.
 * @param domains the values are domains, and only who may name one is looked for; else they may be of whatever type
 */
export function knownValues(q: Query, values: readonly string[], domains: boolean): Coroutine<KnownValueRow[]> {
  if (values.length === 0) return wait([]);
  const places =
    "(select i.*, p.domain, coalesce(p.valid, 0) as said from (select * from adbind_registry_identifiers i " +
    `where i.value = asked.key${domains ? OWNED : ""} order by i.value, i.type, i.publisher, i.source, i.key limit ${VALUE_PLACES}) i ` +
    "join adbind_registry_publishers p on p.id = i.publisher)";
  // A publisher's own valid file, then a file hosted for it, then what was found elsewhere.
  const rank =
    "case when x.said = 1 and x.source = 'adagents_json' then 0 when x.said <> 1 and x.source = 'aao_hosted' then 1 else 2 end";
  const best = `select x.domain || ' ' || x.type || ' ' || x.source || ' ' || x.said || ' ' || x.key from ${places} x order by ${rank}, x.domain, x.type, x.key limit 1`;
  const text =
    `select asked.key as value, (${best}) as place, (select count(distinct x.publisher) from ${places} x) as publishers, ` +
    `(select count(distinct x.publisher) from ${places} x where x.said = 1 and x.source = 'adagents_json') as valid ` +
    `from ${q.dialect.members} asked`;
  return q.rows(text, [JSON.stringify(Object.fromEntries(values.map((value) => [value, ""])))]);
}

/** Text of all reports that are kept, in bytes. */
const MAX_BYTES = 256 * 1024 * 1024;

export interface Report {
  readonly id: string;
  readonly kind: string;
  readonly body: string;
  /** Unix milliseconds. */
  readonly expires: number;
}

/** Keeps a report; the oldest go where there are too many. */
export function* keepReport(q: Query, { id, kind, body, expires }: Report): Coroutine<void> {
  const bytes = Buffer.byteLength(body);
  yield* q.run("insert into adbind_registry_reports (id, kind, body, bytes, expires) values (?, ?, ?, ?, ?)", [
    id,
    kind,
    body,
    bytes,
    expires,
  ]);
  yield* q.run(
    "delete from adbind_registry_reports where id in (select id from (select id, sum(bytes) over " +
      "(order by expires desc, id) as kept from adbind_registry_reports) r where r.kept > ?)",
    [MAX_BYTES],
  );
}

export function* keptReport(q: Query, kind: string, id: string, now: number): Coroutine<string | undefined> {
  const rows = yield* q.rows<{ body: string }>(
    "select body from adbind_registry_reports where id = ? and kind = ? and expires > ?",
    [id, kind, now],
  );
  return rows[0]?.body;
}

/** @param database opened */
export const expiringReports = (database: Database): Expiring => ({
  what: "reports that have expired",
  remove: (now, limit) =>
    database.write((q) =>
      q.run(
        "delete from adbind_registry_reports where id in (select id from adbind_registry_reports where expires <= ? " +
          "order by expires limit ?)",
        [now, limit],
      ),
    ),
});
