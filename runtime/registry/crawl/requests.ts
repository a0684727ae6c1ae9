/** Crawls that are asked for: queued once per domain, in one transaction with the job that does it. */

import { randomUUID } from "node:crypto";
import type { Coroutine } from "../../db/coroutine.js";
import type { Database, Query } from "../../db/types.js";
import { registrableDomain } from "../../net/index.js";
import type { Queue } from "../../queue/types.js";
import {
  activeCount,
  addRequest,
  askedSince,
  type CrawlRequestRow,
  domainRow,
  endWaiting,
  lockDomain,
  postponeDomain,
  requestRow,
} from "../../store/registry-crawl.js";
import { isOptedOut } from "../../store/registry-opt-outs.js";
import { iso, isoOrNull } from "../model.js";
import { crawlErrorCode } from "./errors.js";
import type { CrawlMetrics } from "./metrics.js";
import type { SafetyCheck } from "./safety.js";
import type { Crawler, CrawlLimits, CrawlRefusal, CrawlRequestRecord } from "./types.js";

const HOUR_MS = 3_600_000;
/** The longest an attempt takes, and more, in milliseconds: the pause before the next one begins when it ends. */
const ATTEMPT_MS = 60_000;
/** What a caller waits before it asks again while the queue is full, in seconds. */
const FULL_RETRY_S = 60;
/** And where the domain's owner wants nothing fetched. */
const OPTED_OUT_RETRY_S = 86_400;
/** Share of the queue that lookups may fill: anybody makes those, and none costs a caller's allowance. */
const AUTO_SHARE = 0.5;

/** What a job carries. */
export interface CrawlJob {
  readonly id: string;
  readonly domain: string;
  /** Somebody asked for it, and wants what is there now. */
  readonly fresh?: boolean | undefined;
}

export interface CrawlRequestDependencies {
  readonly store: Database;
  readonly queue: Queue;
  readonly limits: CrawlLimits;
  readonly safety: SafetyCheck;
  readonly metrics: CrawlMetrics;
  readonly now: () => number;
}

const toRecord = (row: CrawlRequestRow, { retryMs }: CrawlLimits): CrawlRequestRecord => ({
  crawl_request_id: row.id,
  domain: row.domain,
  status: row.status,
  attempts: row.attempts,
  max_attempts: retryMs.length + 1,
  requested_at: iso(row.requested_at),
  started_at: isoOrNull(row.started_at),
  last_attempted_at: isoOrNull(row.started_at),
  completed_at: isoOrNull(row.completed_at),
  next_attempt_at: isoOrNull(row.next_attempt_at),
  error: row.error,
  last_error_code: crawlErrorCode(row),
});

const refusal = (refused: CrawlRefusal["refused"], retryMs: number): CrawlRefusal => ({
  refused,
  retryAfterSeconds: Math.max(1, Math.ceil(retryMs / 1000)),
});

interface Asked {
  readonly requestedBy: string;
  readonly reason: string;
  /** Requests that may wait. */
  readonly room: number;
  readonly debounceMs: number;
  /** Counted against the caller's allowance. */
  readonly counted: boolean;
}

type Answer =
  | { readonly kind: "added" | "known"; readonly row: CrawlRequestRow }
  | { readonly kind: "refused"; readonly refusal: CrawlRefusal };

const refuse = (refused: CrawlRefusal["refused"], retryMs: number): Answer => ({
  kind: "refused",
  refusal: refusal(refused, retryMs),
});

/**
 * Whether a request may give way to that of somebody who wants what is there now: it waits for another attempt, for half an hour or
 * two, and the last one was a while ago. Where the origin itself asked for that much time it is left alone.
 */
function givesWay({ status, attempts, started_at, next_attempt_at }: CrawlRequestRow, asking: Asking): boolean {
  if (!asking.counted || status !== "retrying" || started_at === null || next_attempt_at === null) return false;
  const own = (asking.retryMs[attempts - 1] ?? 0) + ATTEMPT_MS;
  return asking.now >= started_at + asking.debounceMs && next_attempt_at - started_at <= own;
}

interface Asking extends Asked, Pick<CrawlLimits, "retryMs"> {
  readonly now: number;
}

/** The one that is active, or why there may be none now; undefined where one may be added. */
function* standing(q: Query, domain: string, asking: Asking): Coroutine<Answer | undefined> {
  const { debounceMs, now } = asking;
  const row = yield* domainRow(q, domain);
  if (row === undefined) return undefined;
  const active = row.active === null ? undefined : yield* requestRow(q, row.active);
  if (active !== undefined) return givesWay(active, asking) ? undefined : { kind: "known", row: active };
  // What was asked in a time that is to come was asked by a clock that has been set back.
  const asked = row.asked_at !== null && row.asked_at <= now + debounceMs ? row.asked_at : undefined;
  const wait = asked === undefined ? 0 : Math.min(debounceMs, asked + debounceMs - now);
  return wait > 0 ? refuse("debounced", wait) : undefined;
}

function* added(dependencies: CrawlRequestDependencies, q: Query, domain: string, asked: Asked): Coroutine<Answer> {
  const { queue, limits, now } = dependencies;
  const at = now();
  const { requestedBy, reason } = asked;
  if (asked.counted) yield* q.lock(requestedBy);
  const { active } = yield* lockDomain(q, domain, at);
  if (yield* isOptedOut(q, domain)) {
    yield* postponeDomain(q, domain, at + OPTED_OUT_RETRY_S * 1000);
    return refuse("opted_out", OPTED_OUT_RETRY_S * 1000);
  }
  const found = yield* standing(q, domain, { ...asked, retryMs: limits.retryMs, now: at });
  if (found !== undefined) return found;
  if (asked.counted) {
    const { count, first } = yield* askedSince(q, requestedBy, at - HOUR_MS);
    if (count >= limits.perCallerHourly) return refuse("limited", (first ?? at) + HOUR_MS - at);
  }
  if (active !== null && !(yield* endWaiting(q, active, at))) {
    const begun = yield* requestRow(q, active);
    if (begun !== undefined && begun.completed_at === null) return { kind: "known", row: begun };
  }
  // One that gave way left its room.
  if (active === null && (yield* activeCount(q)) >= asked.room) return refuse("queue_full", FULL_RETRY_S * 1000);
  const row = yield* addRequest(q, { id: randomUUID(), domain, requestedBy, reason, now: at });
  const job: CrawlJob = { id: row.id, domain, ...(asked.counted && { fresh: true }) };
  yield* queue.add(q, [
    {
      key: row.id,
      random: true,
      // Hosts of one owner are asked a few at a time.
      endpoint: registrableDomain(domain),
      meta: JSON.stringify({ domain, reason }),
      body: Buffer.from(JSON.stringify(job)),
    },
  ]);
  return { kind: "added", row };
}

export interface Requests extends Pick<Crawler, "request" | "read" | "autoCrawl" | "pending"> {
  /** Queues a domain whose time has come. */
  schedule(domain: string): Promise<boolean>;
}

export function crawlRequests(dependencies: CrawlRequestDependencies): Requests {
  const { store, limits, safety, metrics, now } = dependencies;
  const ask = async (domain: string, asked: Asked): Promise<Answer> => {
    const answer = await store.write((q) => added(dependencies, q, domain, asked));
    if (answer.kind === "refused") metrics.refused(answer.refusal.refused);
    return answer;
  };
  const standingOf = (domain: string, asked: Asked) =>
    store.query((q) => standing(q, domain, { ...asked, retryMs: limits.retryMs, now: now() }));
  return {
    async request(domain, { requestedBy, reason }) {
      const { debounceMs, capacity: room } = limits;
      const asked: Asked = { requestedBy, reason, debounceMs, room, counted: true };
      let answer = await standingOf(domain, asked);
      if (answer === undefined) {
        if ((await safety(domain)) === "unsafe") {
          metrics.refused("unsafe");
          return refusal("unsafe", debounceMs);
        }
        answer = await ask(domain, asked);
        if (answer.kind === "added") metrics.requested("request");
      }
      return answer.kind === "refused" ? answer.refusal : toRecord(answer.row, limits);
    },
    async read(id) {
      const row = await store.query((q) => requestRow(q, id));
      return row === undefined ? undefined : toRecord(row, limits);
    },
    async autoCrawl(domain) {
      const room = Math.floor(limits.capacity * AUTO_SHARE);
      const { debounceMs } = limits;
      const asked: Asked = { requestedBy: "lookup", reason: "auto", debounceMs, room, counted: false };
      if ((await standingOf(domain, asked)) !== undefined) return false;
      // A name that does not resolve to a public place takes no room in the queue: lookups are open to anyone.
      if ((await safety(domain)) !== "safe") return false;
      const { kind } = await ask(domain, asked);
      if (kind === "added") metrics.requested("auto");
      return kind === "added";
    },
    async pending(domain) {
      const row = await store.query((q) => domainRow(q, domain));
      return row !== undefined && row.active !== null;
    },
    async schedule(domain) {
      const { capacity: room } = limits;
      const { kind } = await ask(domain, {
        requestedBy: "schedule",
        reason: "scheduled",
        debounceMs: 0,
        room,
        counted: false,
      });
      if (kind === "added") metrics.requested("scheduled");
      return kind === "added";
    },
  };
}
