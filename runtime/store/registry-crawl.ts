/** What a registry's crawler remembers. Times are unix milliseconds. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";

export type CrawlStatus = "queued" | "running" | "retrying" | "completed" | "failed";

export interface CrawlRequestRow {
  readonly id: string;
  readonly domain: string;
  readonly status: CrawlStatus;
  /** Attempts that ended, and one that is under way. */
  readonly attempts: number;
  /** Attempts that began, those among them that were cut off. */
  readonly starts: number;
  readonly requested_by: string;
  readonly reason: string;
  readonly requested_at: number;
  readonly started_at: number | null;
  readonly completed_at: number | null;
  readonly next_attempt_at: number | null;
  readonly error: string | null;
}

export interface CrawlDomainRow {
  readonly domain: string;
  /** The request that waits or runs. */
  readonly active: string | null;
  /** When the last request was made. */
  readonly asked_at: number | null;
  /** Crawls in a row that found no file. */
  readonly misses: number;
  /** When it is crawled again by itself. */
  readonly next_at: number;
}

/** A domain's row, made if need be and locked: requests of one domain are made one after the other. */
export function* lockDomain(q: Query, domain: string, now: number): Coroutine<CrawlDomainRow> {
  const rows = yield* q.rows<CrawlDomainRow>(
    "insert into adbind_crawl_domains (domain, active, asked_at, misses, next_at) values (?, null, null, 0, ?) " +
      "on conflict (domain) do update set domain = excluded.domain returning *",
    [domain, now],
  );
  return rows[0]!;
}

/** It is not crawled by itself before a time. */
export const postponeDomain = (q: Query, domain: string, until: number): Coroutine<unknown> =>
  q.rows("update adbind_crawl_domains set next_at = ? where domain = ?", [until, domain]);

export function* domainRow(q: Query, domain: string): Coroutine<CrawlDomainRow | undefined> {
  return (yield* q.rows<CrawlDomainRow>("select * from adbind_crawl_domains where domain = ?", [domain]))[0];
}

export function* requestRow(q: Query, id: string): Coroutine<CrawlRequestRow | undefined> {
  return (yield* q.rows<CrawlRequestRow>("select * from adbind_crawl_requests where id = ?", [id]))[0];
}

export interface NewRequest {
  readonly id: string;
  readonly domain: string;
  readonly requestedBy: string;
  readonly reason: string;
  readonly now: number;
}

export function* addRequest(
  q: Query,
  { id, domain, requestedBy, reason, now }: NewRequest,
): Coroutine<CrawlRequestRow> {
  const rows = yield* q.rows<CrawlRequestRow>(
    "insert into adbind_crawl_requests (id, domain, status, attempts, starts, requested_by, reason, requested_at) " +
      "values (?, ?, 'queued', 0, 0, ?, ?, ?) returning *",
    [id, domain, requestedBy, reason, now],
  );
  yield* q.rows("update adbind_crawl_domains set active = ?, asked_at = ? where domain = ?", [id, now, domain]);
  return rows[0]!;
}

/** Requests that wait or run. */
export function* activeCount(q: Query): Coroutine<number> {
  const rows = yield* q.rows<{ n: number }>(
    "select count(*) as n from adbind_crawl_requests where completed_at is null",
  );
  return Number(rows[0]!.n);
}

export function* activeOfReason(q: Query, reason: string): Coroutine<number> {
  const rows = yield* q.rows<{ n: number }>(
    "select count(*) as n from adbind_crawl_requests where completed_at is null and reason = ?",
    [reason],
  );
  return Number(rows[0]!.n);
}

/** What a caller asked for since a time: how often, and when first. */
export function* askedSince(
  q: Query,
  requestedBy: string,
  since: number,
): Coroutine<{ count: number; first: number | null }> {
  const rows = yield* q.rows<{ n: number; first: number | null }>(
    "select count(*) as n, min(requested_at) as first from adbind_crawl_requests where requested_by = ? and requested_at > ?",
    [requestedBy, since],
  );
  return { count: Number(rows[0]!.n), first: rows[0]!.first };
}

/** An attempt that begins: how many began so far, or until when it rests. */
export type CrawlStart = { readonly starts: number } | { readonly restsUntil: number };

/**
 * An attempt begins, unless those before it were cut off a moment ago.
 * @param restOf how long a request rests after so many that were cut off, in milliseconds
 * @returns undefined when the request is over, or unknown
 */
export function* beginAttempt(
  q: Query,
  { id, attempt, now }: { readonly id: string; readonly attempt: number; readonly now: number },
  restOf: (cutOff: number) => number,
): Coroutine<CrawlStart | undefined> {
  const row = yield* requestRow(q, id);
  if (row === undefined || row.completed_at !== null) return undefined;
  const cutOff = row.starts - (attempt - 1);
  const restsUntil = cutOff > 0 ? (row.started_at ?? 0) + restOf(cutOff) : now;
  if (restsUntil > now) {
    // It is given back, which takes one off again.
    yield* q.rows("update adbind_crawl_requests set starts = starts + 1 where id = ?", [id]);
    return { restsUntil };
  }
  const rows = yield* q.rows<{ starts: number }>(
    "update adbind_crawl_requests set status = 'running', attempts = ?, starts = starts + 1, started_at = ?, " +
      "next_attempt_at = null where id = ? and completed_at is null returning starts",
    [attempt, now, id],
  );
  return rows[0];
}

export const retryRequest = (q: Query, id: string, nextAt: number, error: string): Coroutine<unknown> =>
  q.rows("update adbind_crawl_requests set status = 'retrying', next_attempt_at = ?, error = ? where id = ?", [
    nextAt,
    error,
    id,
  ]);

/** Ends a request that waits for its next attempt. @returns false where that has begun, or the request is over */
export function* endWaiting(q: Query, id: string, now: number): Coroutine<boolean> {
  const ended = yield* q.rows(
    "update adbind_crawl_requests set status = 'failed', completed_at = ?, next_attempt_at = null where id = ? and status = 'retrying' " +
      "returning id",
    [now, id],
  );
  return ended.length > 0;
}

/** An attempt that did not come to an end counts for nothing. */
export const requeueRequest = (q: Query, id: string, attempts: number): Coroutine<unknown> =>
  q.rows(
    "update adbind_crawl_requests set status = ?, attempts = ?, starts = starts - 1 where id = ? and completed_at is null",
    [attempts === 0 ? "queued" : "retrying", attempts, id],
  );

export interface FinishedRequest {
  readonly id: string;
  readonly domain: string;
  readonly status: "completed" | "failed";
  readonly error: string | null;
  readonly now: number;
  readonly misses: number;
  readonly nextAt: number;
}

export function* finishRequest(q: Query, done: FinishedRequest): Coroutine<void> {
  yield* q.rows(
    "update adbind_crawl_requests set status = ?, error = ?, completed_at = ?, next_attempt_at = null where id = ? and completed_at is null",
    [done.status, done.error, done.now, done.id],
  );
  yield* q.rows(
    "update adbind_crawl_domains set active = null, misses = ?, next_at = ? where domain = ? and active = ?",
    [done.misses, done.nextAt, done.domain, done.id],
  );
}

/**
 * The publishers whose ads.txt led to a manager are due at a time, unless they are sooner.
 * @returns how many they are
 */
export function* dueManaged(q: Query, manager: string, at: number): Coroutine<number> {
  const managed = "from adbind_registry_publishers where manager_domain = ? and method = 'ads_txt_managerdomain'";
  yield* q.rows(
    `insert into adbind_crawl_domains (domain, active, asked_at, misses, next_at) select domain, null, null, 0, ? ${managed} ` +
      "on conflict (domain) do update set next_at = excluded.next_at where adbind_crawl_domains.next_at > excluded.next_at",
    [at, manager],
  );
  const rows = yield* q.rows<{ n: number }>(`select count(*) as n ${managed}`, [manager]);
  return Number(rows[0]!.n);
}

/** Domains that wait for longer than any does, put off by a clock that was ahead and has been set back, are due now. */
export const dueTooLate = (q: Query, latest: number, now: number): Coroutine<unknown> =>
  q.rows("update adbind_crawl_domains set next_at = ? where active is null and next_at > ?", [now, latest]);

/** Domains whose time has come, longest overdue first. */
export const dueDomains = (q: Query, now: number, limit: number): Coroutine<{ domain: string }[]> =>
  q.rows("select domain from adbind_crawl_domains where active is null and next_at <= ? order by next_at limit ?", [
    now,
    limit,
  ]);

/**
 * Takes up publishers that came by an import and were never crawled from here.
 * @param after id of the publisher to go on from
 * @returns where to go on; 0 at the end, to begin anew
 */
export function* adoptPublishers(
  q: Query,
  after: number,
  { intervalMs, limit }: { readonly intervalMs: number; readonly limit: number },
): Coroutine<number> {
  const page = "select id, domain, crawled_at from adbind_registry_publishers where id > ? order by id limit ?";
  // Those of one import have one time: their ids spread them over the interval.
  yield* q.rows(
    "insert into adbind_crawl_domains (domain, active, asked_at, misses, next_at) " +
      `select domain, null, null, 0, crawled_at + (id * 7919000) % ? from (${page}) as page ` +
      "where crawled_at is not null on conflict (domain) do nothing",
    [intervalMs, after, limit],
  );
  const last = yield* q.rows<{ id: number; n: number }>(`select max(id) as id, count(*) as n from (${page}) as page`, [
    after,
    limit,
  ]);
  return Number(last[0]!.n) < limit ? 0 : Number(last[0]!.id);
}

/** The turn to do something that only one instance does. @returns its place, undefined when another has the turn */
export function* takeTurn(
  q: Query,
  name: string,
  { owner, now, until }: { readonly owner: string; readonly now: number; readonly until: number },
): Coroutine<number | undefined> {
  const rows = yield* q.rows<{ place: number }>(
    "insert into adbind_crawl_turns (name, owner, until, place) values (?, ?, ?, 0) on conflict (name) do update set " +
      "owner = excluded.owner, until = excluded.until " +
      "where adbind_crawl_turns.owner = excluded.owner or adbind_crawl_turns.until <= ? or " +
      // Taken by a clock that was ahead, and set back since.
      "adbind_crawl_turns.until > ? returning place",
    [name, owner, until, now, until + (until - now)],
  );
  return rows[0] === undefined ? undefined : Number(rows[0].place);
}

export const setPlace = (q: Query, name: string, place: number): Coroutine<unknown> =>
  q.rows("update adbind_crawl_turns set place = ? where name = ?", [place, name]);

export const endTurn = (q: Query, name: string, owner: string): Coroutine<unknown> =>
  q.rows("update adbind_crawl_turns set until = 0 where name = ? and owner = ?", [name, owner]);

/** Remembers what a file revokes, in one order: one file may be taken for several domains side by side. @param source the file */
export function* addRevocations(q: Query, source: string, domains: readonly string[], until: number): Coroutine<void> {
  for (const domain of [...domains].sort())
    yield* q.rows(
      "insert into adbind_crawl_revocations (source, domain, until) values (?, ?, ?) " +
        "on conflict (source, domain) do update set until = excluded.until",
      [source, domain, until],
    );
}

export function* revokedBy(q: Query, source: string, now: number): Coroutine<string[]> {
  const rows = yield* q.rows<{ domain: string }>(
    "select domain from adbind_crawl_revocations where source = ? and until > ?",
    [source, now],
  );
  return rows.map(({ domain }) => domain);
}

/** Removes requests that ended before a time. @returns how many */
export function* removeRequests(q: Query, before: number, limit: number): Coroutine<number> {
  const removed = yield* q.rows(
    "delete from adbind_crawl_requests where id in (select id from adbind_crawl_requests where completed_at < ? " +
      "order by completed_at limit ?) returning id",
    [before, limit],
  );
  return removed.length;
}

/** Removes revocations that are no longer held. @returns how many */
export function* removeRevocations(q: Query, now: number, limit: number): Coroutine<number> {
  const removed = yield* q.rows(
    "delete from adbind_crawl_revocations where (source, domain) in (select source, domain from adbind_crawl_revocations " +
      "where until <= ? limit ?) returning source",
    [now, limit],
  );
  return removed.length;
}
