/** One attempt at a crawl, and what becomes of its request: written in the transaction that acknowledges the job. */

import type { Logger } from "pino";
import type { Coroutine } from "../../db/coroutine.js";
import type { Database, Query } from "../../db/types.js";
import { type Fetcher, retryAfterMs } from "../../net/index.js";
import type { Ack, AckEffect, Job } from "../../queue/types.js";
import type { Handled } from "../../queue/worker-options.js";
import {
  addRevocations,
  beginAttempt,
  type CrawlStart,
  domainRow,
  finishRequest,
  lockDomain,
  requeueRequest,
  retryRequest,
  revokedBy,
} from "../../store/registry-crawl.js";
import { isKept, type KeptFileRow, keptFile } from "../../store/registry-crawl-files.js";
import { isOptedOut } from "../../store/registry-opt-outs.js";
import { expectedUrl } from "../model.js";
import type { CrawlResult, RegistryData } from "../types.js";
import { type Crawled, crawlDomain } from "./crawl.js";
import { CRAWL_ERRORS } from "./errors.js";
import { FileRules, revokerOf } from "./file-rules.js";
import type { Origin } from "./locate.js";
import type { CrawlMetrics } from "./metrics.js";
import type { CrawlJob } from "./requests.js";
import type { Robots } from "./robots.js";
import { LONGEST_RECRAWL_MS } from "./settings.js";
import type { CrawlLimits } from "./types.js";

/**
 * A revocation holds for this long after the file last said it, in milliseconds (docs/protocol/files.md#what-a-crawl-does,
 * 3).
 */
const REVOCATION_MS = 7 * 86_400_000;
/**
 * Attempts that may be cut off: a file that ends the process every time must not be taken up for ever. A process that dies
 * takes along all crawls under way, most of them innocent: under kills by the second, five were not enough for those.
 */
const MAX_CUT_OFF = 20;
/**
 * What was cut off rests before it is taken up again, each time longer, in milliseconds: first in the queue, it would be under
 * way whenever a process that has just started dies, and the one that ends processes would end them one after the other.
 */
const FIRST_REST_MS = 250;
const LONGEST_REST_MS = 30_000;
const restAfter = (cutOff: number): number => Math.min(FIRST_REST_MS * 2 ** (cutOff - 1), LONGEST_REST_MS);
/** One whose last valid file is kept is asked at least this often, in milliseconds (docs/protocol/files.md#what-a-crawl-does). */
const LONGEST_KEPT_MS = 86_400_000;
/** Reports kept until their jobs are acknowledged; far more than are ever out. */
const MAX_REPORTS = 4_096;

export interface AttemptDependencies {
  readonly store: Database;
  readonly data: Pick<RegistryData, "applyCrawl">;
  readonly origin: Origin;
  readonly robots: Robots;
  readonly limits: CrawlLimits;
  readonly metrics: CrawlMetrics;
  readonly log: Logger | undefined;
  readonly now: () => number;
  readonly random: () => number;
}

interface Report {
  readonly status: "completed" | "failed";
  readonly error: string | null;
  /** There is something at the origin: it is worth asking again soon. */
  readonly found: boolean;
  /** When what was held back is taken if it stays, in unix milliseconds. */
  readonly heldUntil: number | null;
}

const jobOf = (job: Pick<Job, "body">): CrawlJob => JSON.parse(Buffer.from(job.body).toString()) as CrawlJob;

const found = ({ adagents, brand }: CrawlResult): boolean =>
  ["valid", "invalid", "held"].includes(adagents.outcome) || brand.outcome === "present";

export interface Attempts {
  readonly handle: (job: Job) => Promise<Handled>;
  readonly effect: AckEffect;
}

export function crawlAttempts(dependencies: AttemptDependencies): Attempts {
  const reports = new Map<number, Report>();
  const report = (job: Job, made: Report): Handled => {
    reports.delete(job.id);
    reports.set(job.id, made);
    const [oldest] = reports.keys();
    if (reports.size > MAX_REPORTS) reports.delete(oldest!);
    return { outcome: { kind: "done" }, healthy: null };
  };
  return {
    handle: (job) => attempt(dependencies, job, (made) => report(job, made)),
    effect: (q, acked) => ended(dependencies, q, acked, reports),
  };
}

const failed = (error: string): Report => ({ status: "failed", error, found: false, heldUntil: null });

/** Most files are at their domain's own place. */
const ownRevoker = (domain: string): string => revokerOf(expectedUrl(domain));

/** What an attempt goes by, as it was when it began: nobody else crawls the domain meanwhile. */
interface Begun {
  readonly start: CrawlStart;
  readonly optedOut: boolean;
  readonly kept: KeptFileRow | undefined;
  /** Domains that the domain's own file revokes. */
  readonly revoked: readonly string[];
}

/** That it begins is written before anything is fetched, so that one which ends the process is counted. */
function* begin(q: Query, { id, domain }: CrawlJob, attempt: number, now: number): Coroutine<Begun | undefined> {
  const start = yield* beginAttempt(q, { id, attempt, now }, restAfter);
  if (start === undefined) return undefined;
  const optedOut = yield* isOptedOut(q, domain);
  return { start, optedOut, kept: yield* keptFile(q, domain), revoked: yield* revokedBy(q, ownRevoker(domain), now) };
}

async function attempt(
  dependencies: AttemptDependencies,
  job: Job,
  end: (report: Report) => Handled,
): Promise<Handled> {
  const { store, limits, metrics, log, now } = dependencies;
  const wanted = jobOf(job);
  const { domain } = wanted;
  const number = job.attempts + 1;
  const last = number > limits.retryMs.length;
  const begun = await store.write((q) => begin(q, wanted, number, now()));
  if (begun === undefined) return end({ status: "completed", error: null, found: true, heldUntil: null });
  // It waited already when its owner asked to be left alone.
  if (begun.optedOut) return end(failed(CRAWL_ERRORS.opted_out));
  const { start } = begun;
  if ("restsUntil" in start) return { outcome: { kind: "released", due: start.restsUntil }, healthy: null };
  if (start.starts - job.attempts > MAX_CUT_OFF) return end(failed(CRAWL_ERRORS.cut_off));
  const began = now();
  let crawled: Crawled;
  const { fetch, askedMs } = heeding(dependencies.origin.fetch, now);
  try {
    crawled = await crawlOnce(
      { ...dependencies, origin: { ...dependencies.origin, fetch } },
      { ...wanted, ...begun, last },
    );
    if (crawled.aborted) return { outcome: { kind: "released", due: now() }, healthy: null };
  } catch (error) {
    if (error instanceof OptedOutMeanwhile) return end(failed(CRAWL_ERRORS.opted_out));
    log?.error({ err: error, domain, attempt: number }, "what a crawl found could not be kept");
    return again(dependencies, number, CRAWL_ERRORS.not_kept) ?? end(failed(CRAWL_ERRORS.not_kept));
  }
  const result = last ? crawled.last : crawled.result;
  metrics.crawled(result, now() - began);
  const { outcome, method } = result.adagents;
  log?.info({ domain, attempt: number, outcome, method, brand: result.brand.outcome, why: crawled.detail }, "crawled");
  const { heldUntil } = crawled;
  if (outcome === "held") log?.warn({ domain, why: crawled.detail, heldUntil }, "a file is held back");
  if (!crawled.retry) return end({ status: "completed", error: crawled.error, found: found(result), heldUntil });
  const error = crawled.error ?? "the origin could not be reached";
  return (
    again(dependencies, number, error, askedMs()) ?? end({ status: "failed", error, found: found(result), heldUntil })
  );
}

/** Statuses by which an origin asks for time. */
const asksForTime: readonly number[] = [429, 503];

/** Fetches, and notes the longest time that an origin asked to be left alone for, in milliseconds. */
function heeding(fetch: Fetcher, now: () => number): { fetch: Fetcher; askedMs: () => number } {
  let asked = 0;
  return {
    askedMs: () => asked,
    fetch: async (url, request) => {
      const result = await fetch(url, request);
      if (result.ok && asksForTime.includes(result.status))
        asked = Math.max(asked, retryAfterMs(result.headers["retry-after"], now()) ?? 0);
      return result;
    },
  };
}

/** The verdict that tries again, no sooner than the origin asked for; undefined after the last attempt. */
function again(
  { limits, metrics, now }: AttemptDependencies,
  number: number,
  error: string,
  askedMs = 0,
): Handled | undefined {
  const delay = limits.retryMs[number - 1];
  metrics.failed(delay === undefined);
  if (delay === undefined) return undefined;
  return { outcome: { kind: "later", due: now() + Math.max(delay, askedMs), error }, healthy: null };
}

/** Thrown where its owner asked to be left alone while the domain was being crawled: nothing of it is kept. */
class OptedOutMeanwhile extends Error {}

/** Fetches, reads and judges; all that came of it is kept in one transaction. */
async function crawlOnce(
  { store, data, origin, robots, now }: AttemptDependencies,
  { domain, fresh = false, kept, revoked, last }: CrawlJob & Begun & { readonly last: boolean },
): Promise<Crawled> {
  const rules = new FileRules(kept, now);
  const crawled = await crawlDomain(
    {
      ...origin,
      ...{ robots, fresh, now },
      pointer: (location) => rules.pointer(location),
      file: (found) => rules.file(found),
      revokedBy: async (revoker) =>
        revoker === ownRevoker(domain) ? revoked : store.query((q) => revokedBy(q, revoker, now())),
    },
    domain,
  );
  if (crawled.aborted) return crawled;
  const { revocations } = crawled;
  await data.applyCrawl(last ? crawled.last : crawled.result, function* (q) {
    // With the lock, whoever notes the wish meanwhile waits for the end of this.
    yield* lockDomain(q, domain, now());
    if (yield* isOptedOut(q, domain)) throw new OptedOutMeanwhile();
    if (revocations !== null) yield* addRevocations(q, revocations.revoker, revocations.domains, now() + REVOCATION_MS);
    yield* rules.keep(q, domain);
  });
  return crawled;
}

function* ended(
  dependencies: AttemptDependencies,
  q: Query,
  acked: readonly Ack[],
  reports: ReadonlyMap<number, Report>,
): Coroutine<void> {
  for (const { job, outcome } of acked) {
    const { id, domain } = jobOf(job);
    switch (outcome.kind) {
      case "later":
        yield* retryRequest(q, id, outcome.due, outcome.error);
        break;
      case "released":
        yield* requeueRequest(q, id, job.attempts);
        break;
      case "done":
      case "dead":
      case "refused":
        yield* requestEnded(
          dependencies,
          q,
          { id, domain },
          reports.get(job.id) ?? failed("the crawl ended without a report"),
        );
        break;
    }
  }
}

function* requestEnded(
  dependencies: AttemptDependencies,
  q: Query,
  { id, domain }: CrawlJob,
  report: Report,
): Coroutine<void> {
  const { limits, now, random } = dependencies;
  const row = yield* domainRow(q, domain);
  const misses = report.found ? 0 : (row?.misses ?? 0) + 1;
  const longest = (yield* isKept(q, domain)) ? LONGEST_KEPT_MS : LONGEST_RECRAWL_MS;
  const pause = Math.min(limits.recrawlMs * 2 ** Math.max(0, misses - 1), Math.max(longest, limits.recrawlMs));
  // A tenth either way, so that domains taken up together drift apart.
  const usual = Math.round(now() + pause * (0.9 + 0.2 * random()));
  const nextAt = Math.min(usual, report.heldUntil ?? usual);
  yield* finishRequest(q, { id, domain, status: report.status, error: report.error, now: now(), misses, nextAt });
}
