/**
 * How often a caller may ask. Counters are shared by every instance on one PostgreSQL
 * (docs/protocol/registry.md#common-rules).
 */
import { createHash } from "node:crypto";
import { type FastifyRateLimitStore, normalizeIP, type RateLimitOptions } from "@fastify/rate-limit";
import type { FastifyRequest } from "fastify";
import { AdbindError } from "../../errors.js";
import type { RegistryAccess } from "../../store/index.js";
import type { OperationId } from "./document.js";
import { Problem } from "./problems.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Name -> requests in a window. `publisher` and `reads` are the neighbours' own figures
 * (docs/protocol/registry.md#common-rules); `bulk` lets a sales agent expand its products; `login` and `accounts` make
 * guessing a password hopeless, from one address and from many; the price is that somebody who tries can keep an account
 * from logging in, not from its tokens.
 */
export const limitDefaults = {
  publisher: { max: 20, windowMs: MINUTE_MS, what: "publisher lookups" },
  reads: { max: 60, windowMs: MINUTE_MS, what: "other lookups" },
  bulk: { max: 300, windowMs: MINUTE_MS, what: "searches, expansions and checks of products" },
  streams: { max: 20, windowMs: MINUTE_MS, what: "streams and snapshots begun" },
  inspections: { max: 10, windowMs: MINUTE_MS, what: "files looked at" },
  reports: { max: 10, windowMs: MINUTE_MS, what: "lists gone through, ten thousand entries each" },
  crawl: { max: 30, windowMs: HOUR_MS, what: "requests for a crawl, per hour" },
  documents: { max: 300, windowMs: MINUTE_MS, what: "files and pages" },
  login: { max: 10, windowMs: MINUTE_MS, what: "attempts to log in, per address" },
  accounts: { max: 30, windowMs: HOUR_MS, what: "attempts to log in, per account and hour" },
  clients: { max: 20, windowMs: HOUR_MS, what: "registrations of OAuth clients, per address and hour" },
} as const satisfies Record<string, { max: number; windowMs: number; what: string }>;

/** Names a limit of a registry's API. */
export type Bucket = keyof typeof limitDefaults;
/** Requests per window, by bucket; 0 is no limit. */
export type Limits = Readonly<Record<Bucket, number>>;

/** The bucket of each operation; operations without one are for the machinery around the server. */
export const bucketOf: Readonly<Partial<Record<OperationId, Bucket>>> = {
  lookupPublisher: "publisher",
  lookupAuthorization: "reads",
  lookupOperator: "reads",
  lookupDomain: "reads",
  lookupProperty: "reads",
  listAgentPublishers: "reads",
  readStats: "reads",
  readCrawlRequest: "reads",
  searchAgents: "bulk",
  expandProductIdentifiers: "bulk",
  validateProductAuthorization: "bulk",
  readFeed: "bulk",
  streamFeed: "streams",
  listAuthorizations: "reads",
  readSnapshot: "streams",
  listAgents: "reads",
  discoverAgent: "reads",
  listPublishers: "reads",
  validatePropertyAuthorization: "bulk",
  listAgentDomains: "reads",
  readAgentPublishers: "reads",
  readAgentPublishersLegacy: "reads",
  resolveProperty: "publisher",
  resolveProperties: "bulk",
  listProperties: "reads",
  readBrandFile: "reads",
  resolveBrand: "reads",
  resolveBrands: "bulk",
  listBrands: "reads",
  findBrands: "reads",
  searchAll: "reads",
  lookupManifest: "reads",
  validateProperty: "inspections",
  validatePublisher: "inspections",
  validateAdagents: "inspections",
  createAdagents: "bulk",
  checkProperties: "reports",
  checkIdentifiers: "reports",
  readPropertyCheck: "reads",
  readIdentifierCheck: "reads",
  describeApi: "documents",
  requestCrawl: "crawl",
  revalidateAdagents: "crawl",
  requestBrandCrawl: "crawl",
  requestManagerRevalidation: "crawl",
  verifyHostedOrigin: "crawl",
  readHostedAdagents: "documents",
  readSchema: "documents",
  readExtractionVectors: "documents",
};

/** @throws AdbindError `registry_option_invalid` for a limit that is no whole number from 0 */
export function checkedLimits(given: Partial<Limits> | false = {}): Limits {
  const names = Object.keys(limitDefaults) as Bucket[];
  return Object.fromEntries(
    names.map((name) => {
      const max = given === false ? 0 : (given[name] ?? limitDefaults[name].max);
      if (!Number.isSafeInteger(max) || max < 0) {
        throw new AdbindError("registry_option_invalid", "a limit cannot be used", {
          where: `${name} ${max}`,
          remedy: "give a whole number of requests; 0 is no limit",
        });
      }
      return [name, max];
    }),
  ) as unknown as Limits;
}

/** One network of IPv6 is one caller: whoever has one address of it has them all. */
const IPV6_PREFIX_BITS = 64;

/** A caller by name; anybody else by network. */
export const whoAsks = (request: FastifyRequest): string =>
  request.identity.state === "known" ? request.identity.caller.id : `ip:${normalizeIP(request.ip, IPV6_PREFIX_BITS)}`;

interface Counted {
  readonly count: number;
  readonly resets: number;
}

/** Counts on one machine: SQLite is for a single instance, and a synced write per request would cost more than the answer. */
function memoryCounter(): RateCounter {
  const counters = new Map<string, Counted>();
  let swept = 0;
  return async (key, now, windowMs) => {
    if (swept + MINUTE_MS <= now) {
      for (const [name, { resets }] of counters) if (resets <= now) counters.delete(name);
      swept = now;
    }
    const found = counters.get(key);
    // One that ends later than the next one would was begun before the clock was set back.
    const next =
      found === undefined || found.resets <= now || found.resets > now + 2 * windowMs
        ? { count: 1, resets: now + windowMs }
        : { count: found.count + 1, resets: found.resets };
    counters.set(key, next);
    return next;
  };
}

export type RateCounter = RegistryAccess["count"];

/** @param shared by several machines, which count together */
export const rateCounter = (access: RegistryAccess, shared: boolean): RateCounter =>
  shared ? access.count : memoryCounter();

/** @returns a store for `@fastify/rate-limit`; its keys hold the bucket already */
export function rateStore(count: RateCounter, now: () => number) {
  return class implements FastifyRateLimitStore {
    incr(...[key, callback, timeWindow]: Parameters<FastifyRateLimitStore["incr"]>): void {
      const at = now();
      count(key, at, timeWindow).then(
        (counted) => callback(null, { current: counted.count, ttl: Math.max(0, counted.resets - at) }),
        (error: Error) => callback(error),
      );
    }

    child(): this {
      return this;
    }
  };
}

const tooMany = (seconds: number): Problem =>
  new Problem(429, "Too many requests", {
    message: `Ask again in ${seconds} s`,
    retryAfterSeconds: Math.max(1, seconds),
  });

/** One more attempt to log in to an account, whether there is one or not. @throws Problem 429 */
export async function countAttempt(
  { count, limits, now }: { readonly count: RateCounter; readonly limits: Limits; readonly now: () => number },
  email: string,
): Promise<void> {
  if (limits.accounts === 0) return;
  const key = `accounts ${createHash("sha256").update(email).digest("base64url")}`;
  const { count: tried, resets } = await count(key, now(), limitDefaults.accounts.windowMs);
  if (tried > limits.accounts) throw tooMany(Math.ceil((resets - now()) / 1000));
}

/**
 * What a route's `config.rateLimit` is; false where there is no limit.
 * @param by whom: the caller where one is known, or the address always
 */
export function limitOf(bucket: Bucket, limits: Limits, by: "caller" | "address" = "caller"): RateLimitOptions | false {
  const max = limits[bucket];
  if (max === 0) return false;
  return {
    max,
    timeWindow: limitDefaults[bucket].windowMs,
    keyGenerator: (request) =>
      `${bucket} ${by === "caller" ? whoAsks(request) : `ip:${normalizeIP(request.ip, IPV6_PREFIX_BITS)}`}`,
    errorResponseBuilder: (_, { ttl }) => tooMany(Math.ceil(ttl / 1000)),
  };
}
