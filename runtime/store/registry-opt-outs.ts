/** Domains whose owners want nothing fetched or told of them, as rows. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";

/** A domain and those it is under. */
const namesOf = (domain: string): string[] => {
  const labels = domain.split(".");
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join("."));
};

/** Those of some domains whose owners, or owners of what they are under, want nothing fetched or told. */
export function* optedOutAmong(q: Query, domains: readonly string[]): Coroutine<Set<string>> {
  if (domains.length === 0) return new Set();
  const names = new Map(domains.map((domain) => [domain, namesOf(domain)]));
  const rows = yield* q.rows<{ domain: string }>(
    `select domain from adbind_crawl_opt_outs where ${q.dialect.among("domain", "text")}`,
    [q.dialect.list([...new Set([...names.values()].flat())])],
  );
  const out = new Set(rows.map(({ domain }) => domain));
  return new Set(domains.filter((domain) => names.get(domain)!.some((name) => out.has(name))));
}

export function* isOptedOut(q: Query, domain: string): Coroutine<boolean> {
  return (yield* optedOutAmong(q, [domain])).has(domain);
}

/** Domains being crawled that are a domain, or under it. */
export function* activeUnder(q: Query, domain: string): Coroutine<string[]> {
  const text =
    "select domain from adbind_crawl_domains where active is not null and (domain = ? or domain like ?) order by domain";
  return (yield* q.rows<{ domain: string }>(text, [domain, `%.${domain}`])).map((row) => row.domain);
}

/** What `source` is while what was known of a domain is being ended: whoever does that may be killed before he has done it. */
const ENDING = "operator, ending";

export const addOptOut = (q: Query, domain: string, since: number): Coroutine<unknown> =>
  q.rows(
    `insert into adbind_crawl_opt_outs (domain, since, source) values (?, ?, '${ENDING}') ` +
      `on conflict (domain) do update set source = '${ENDING}'`,
    [domain, since],
  );

/** All that was known of a domain has ended. */
export const optOutEnded = (q: Query, domain: string): Coroutine<number> =>
  q.run(`update adbind_crawl_opt_outs set source = 'operator' where domain = ? and source = '${ENDING}'`, [domain]);

/** Has a domain opted out? Until the transaction ends it cannot be opted in again. */
export function* holdOptOut(q: Query, domain: string): Coroutine<boolean> {
  const text = `select domain from adbind_crawl_opt_outs where domain = ?${q.dialect.forUpdate}`;
  return (yield* q.rows(text, [domain])).length > 0;
}

/** Domains of which not all that was known has ended. */
export function* optOutsEnding(q: Query): Coroutine<string[]> {
  const text = `select domain from adbind_crawl_opt_outs where source = '${ENDING}' order by domain`;
  return (yield* q.rows<{ domain: string }>(text)).map((row) => row.domain);
}

export function* removeOptOut(q: Query, domain: string): Coroutine<boolean> {
  return (yield* q.run("delete from adbind_crawl_opt_outs where domain = ?", [domain])) > 0;
}

export const optOuts = (q: Query): Coroutine<{ domain: string; since: number }[]> =>
  q.rows("select domain, since from adbind_crawl_opt_outs order by domain");

/** Publishers that are a domain, or under it: for whoever runs the registry, who may wait for all of them to be looked at. */
export function* publishersUnder(q: Query, domain: string): Coroutine<string[]> {
  const text = "select domain from adbind_registry_publishers where domain = ? or domain like ? order by domain";
  return (yield* q.rows<{ domain: string }>(text, [domain, `%.${domain}`])).map((row) => row.domain);
}
