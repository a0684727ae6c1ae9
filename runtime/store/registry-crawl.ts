/**
 * What a registry's crawler remembers. The statements are the same on both databases; a flow of them runs to its end
 * inside SQLite's synchronous transaction, and waits on PostgreSQL. Times are unix milliseconds.
 */
import type { Database } from "better-sqlite3";
import { type Flow, run, runSync, settle } from "../signing/flow.js";
import type { PostgresStore } from "./postgres/open.js";
import type { Tx } from "./postgres/tables.js";
import { postgresRunner, sqliteRunner } from "./sender-tables.js";
import type { SqliteStore } from "./sqlite/open.js";
import { Writer } from "./sqlite/writer.js";
import type { MaybePromise } from "./types.js";

type Value = string | number | null;

/** One statement of a transaction. */
export type Rows = <Row>(text: string, values?: readonly Value[]) => Flow<Row[]>;

/** What a transaction is: the SQLite connection, or a kysely transaction. */
export type CrawlTx = Database | Tx;

export interface CrawlStore {
  /** One transaction; durable when it answers. */
  write<T>(flow: (q: Rows, tx: CrawlTx) => Flow<T>): Promise<T>;
  /** Part of a transaction of somebody else's. On SQLite no promise. */
  within<T>(tx: CrawlTx, flow: (q: Rows) => Flow<T>): MaybePromise<T>;
  /** Waits for its turn under a name until the transaction ends; SQLite's transactions take turns anyway. */
  lock(q: Rows, name: string): Flow<unknown>;
  /** Statements that need not agree. */
  peek<T>(flow: (q: Rows) => Flow<T>): Promise<T>;
}

export function crawlStore(store: SqliteStore | PostgresStore): CrawlStore {
  if (store.kind === "sqlite") {
    const runner = sqliteRunner();
    const rows =
      (db: Database): Rows =>
      (text, values = []) =>
        settle(runner(db, text, values) as MaybePromise<never[]>);
    const writer = new Writer(store.db);
    return {
      write: (flow) => writer.guarded(() => runSync(flow(rows(store.db), store.db))),
      within: (tx, flow) => runSync(flow(rows(tx as Database))),
      peek: async (flow) => runSync(flow(rows(store.db))),
      lock: () => settle(undefined),
    };
  }
  const rows =
    (tx: Tx): Rows =>
    (text, values = []) =>
      settle(postgresRunner(tx, text, values) as MaybePromise<never[]>);
  return {
    write: (flow) => store.db.transaction().execute((tx) => run(flow(rows(tx), tx))),
    within: (tx, flow) => run(flow(rows(tx as Tx))),
    peek: (flow) => run(flow(rows(store.db as unknown as Tx))),
    lock: (q, name) => q("select pg_advisory_xact_lock(hashtext(?))", [`adbind crawl ${name}`]),
  };
}

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
export function* lockDomain(q: Rows, domain: string, now: number): Flow<CrawlDomainRow> {
  const rows = yield* q<CrawlDomainRow>(
    "insert into adbind_crawl_domains (domain, active, asked_at, misses, next_at) values (?, null, null, 0, ?) " +
      "on conflict (domain) do update set domain = excluded.domain returning *",
    [domain, now],
  );
  return rows[0]!;
}

export function* domainRow(q: Rows, domain: string): Flow<CrawlDomainRow | undefined> {
  return (yield* q<CrawlDomainRow>("select * from adbind_crawl_domains where domain = ?", [domain]))[0];
}

export function* requestRow(q: Rows, id: string): Flow<CrawlRequestRow | undefined> {
  return (yield* q<CrawlRequestRow>("select * from adbind_crawl_requests where id = ?", [id]))[0];
}

export interface NewRequest {
  readonly id: string;
  readonly domain: string;
  readonly requestedBy: string;
  readonly reason: string;
  readonly now: number;
}

export function* addRequest(q: Rows, { id, domain, requestedBy, reason, now }: NewRequest): Flow<CrawlRequestRow> {
  const rows = yield* q<CrawlRequestRow>(
    "insert into adbind_crawl_requests (id, domain, status, attempts, starts, requested_by, reason, requested_at) " +
      "values (?, ?, 'queued', 0, 0, ?, ?, ?) returning *",
    [id, domain, requestedBy, reason, now],
  );
  yield* q("update adbind_crawl_domains set active = ?, asked_at = ? where domain = ?", [id, now, domain]);
  return rows[0]!;
}

/** Requests that wait or run. */
export function* activeCount(q: Rows): Flow<number> {
  const rows = yield* q<{ n: number }>("select count(*) as n from adbind_crawl_requests where completed_at is null");
  return Number(rows[0]!.n);
}

export function* activeOfReason(q: Rows, reason: string): Flow<number> {
  const rows = yield* q<{ n: number }>(
    "select count(*) as n from adbind_crawl_requests where completed_at is null and reason = ?",
    [reason],
  );
  return Number(rows[0]!.n);
}

/** What a caller asked for since a time: how often, and when first. */
export function* askedSince(
  q: Rows,
  requestedBy: string,
  since: number,
): Flow<{ count: number; first: number | null }> {
  const rows = yield* q<{ n: number; first: number | null }>(
    "select count(*) as n, min(requested_at) as first from adbind_crawl_requests where requested_by = ? and requested_at > ?",
    [requestedBy, since],
  );
  return { count: Number(rows[0]!.n), first: rows[0]!.first };
}

/** An attempt begins. @returns how many began so far; undefined when the request is over, or unknown */
export function* beginAttempt(q: Rows, id: string, attempt: number, now: number): Flow<number | undefined> {
  const rows = yield* q<{ starts: number }>(
    "update adbind_crawl_requests set status = 'running', attempts = ?, starts = starts + 1, started_at = ?, " +
      "next_attempt_at = null where id = ? and completed_at is null returning starts",
    [attempt, now, id],
  );
  return rows[0]?.starts;
}

export const retryRequest = (q: Rows, id: string, nextAt: number, error: string): Flow<unknown> =>
  q("update adbind_crawl_requests set status = 'retrying', next_attempt_at = ?, error = ? where id = ?", [
    nextAt,
    error,
    id,
  ]);

/** An attempt that did not come to an end counts for nothing. */
export const requeueRequest = (q: Rows, id: string, attempts: number): Flow<unknown> =>
  q(
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

export function* finishRequest(q: Rows, done: FinishedRequest): Flow<void> {
  yield* q(
    "update adbind_crawl_requests set status = ?, error = ?, completed_at = ?, next_attempt_at = null where id = ?",
    [done.status, done.error, done.now, done.id],
  );
  yield* q("update adbind_crawl_domains set active = null, misses = ?, next_at = ? where domain = ? and active = ?", [
    done.misses,
    done.nextAt,
    done.domain,
    done.id,
  ]);
}

/** Domains whose time has come, longest overdue first. */
export const dueDomains = (q: Rows, now: number, limit: number): Flow<{ domain: string }[]> =>
  q("select domain from adbind_crawl_domains where active is null and next_at <= ? order by next_at limit ?", [
    now,
    limit,
  ]);

/**
 * Takes up publishers that came by an import and were never crawled from here.
 * @param after id of the publisher to go on from
 * @returns where to go on; 0 at the end, to begin anew
 */
export function* adoptPublishers(
  q: Rows,
  after: number,
  { intervalMs, limit }: { readonly intervalMs: number; readonly limit: number },
): Flow<number> {
  const page = "select id, domain, crawled_at from adbind_registry_publishers where id > ? order by id limit ?";
  // Those of one import have one time: their ids spread them over the interval.
  yield* q(
    "insert into adbind_crawl_domains (domain, active, asked_at, misses, next_at) " +
      `select domain, null, null, 0, crawled_at + (id * 7919000) % ? from (${page}) as page ` +
      "where crawled_at is not null on conflict (domain) do nothing",
    [intervalMs, after, limit],
  );
  const last = yield* q<{ id: number; n: number }>(`select max(id) as id, count(*) as n from (${page}) as page`, [
    after,
    limit,
  ]);
  return Number(last[0]!.n) < limit ? 0 : Number(last[0]!.id);
}

/** The turn to do something that only one instance does. @returns its place, undefined when another has the turn */
export function* takeTurn(
  q: Rows,
  name: string,
  { owner, now, until }: { readonly owner: string; readonly now: number; readonly until: number },
): Flow<number | undefined> {
  const rows = yield* q<{ place: number }>(
    "insert into adbind_crawl_turns (name, owner, until, place) values (?, ?, ?, 0) on conflict (name) do update set " +
      "owner = excluded.owner, until = excluded.until " +
      "where adbind_crawl_turns.owner = excluded.owner or adbind_crawl_turns.until <= ? returning place",
    [name, owner, until, now],
  );
  return rows[0] === undefined ? undefined : Number(rows[0].place);
}

export const setPlace = (q: Rows, name: string, place: number): Flow<unknown> =>
  q("update adbind_crawl_turns set place = ? where name = ?", [place, name]);

export const endTurn = (q: Rows, name: string, owner: string): Flow<unknown> =>
  q("update adbind_crawl_turns set until = 0 where name = ? and owner = ?", [name, owner]);

/** Remembers what a file revokes. @param source host of the file */
export function* addRevocations(q: Rows, source: string, domains: readonly string[], until: number): Flow<void> {
  for (const domain of domains)
    yield* q(
      "insert into adbind_crawl_revocations (source, domain, until) values (?, ?, ?) " +
        "on conflict (source, domain) do update set until = excluded.until",
      [source, domain, until],
    );
}

export function* revokedBy(q: Rows, source: string, now: number): Flow<string[]> {
  const rows = yield* q<{ domain: string }>(
    "select domain from adbind_crawl_revocations where source = ? and until > ?",
    [source, now],
  );
  return rows.map(({ domain }) => domain);
}

/** Removes requests that ended before a time. @returns how many */
export function* removeRequests(q: Rows, before: number, limit: number): Flow<number> {
  const removed = yield* q(
    "delete from adbind_crawl_requests where id in (select id from adbind_crawl_requests where completed_at < ? " +
      "order by completed_at limit ?) returning id",
    [before, limit],
  );
  return removed.length;
}

/** Removes revocations that are no longer held. @returns how many */
export function* removeRevocations(q: Rows, now: number, limit: number): Flow<number> {
  const removed = yield* q(
    "delete from adbind_crawl_revocations where (source, domain) in (select source, domain from adbind_crawl_revocations " +
      "where until <= ? limit ?) returning source",
    [now, limit],
  );
  return removed.length;
}
