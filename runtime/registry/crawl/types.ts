/** What a crawler is made from, and what it does for whoever serves the registry. */
import type { Meter } from "@opentelemetry/api";
import type { Logger } from "pino";
import type { components } from "../../../generated/registry/openapi.js";
import type { Fetcher, Lookup } from "../../net/index.js";
import type { AnyStore } from "../../store/index.js";
import type { CrawlResult, RegistryData } from "../types.js";

/** A crawl that was asked for, and what became of it. */
export type CrawlRequestRecord = components["schemas"]["CrawlRequest"];

/**
 * `debounced`: the domain was crawled just now; `limited`: the caller asked too often; `queue_full`: too much waits;
 * `unsafe`: the domain is none that is public; `opted_out`: its owner wants nothing fetched.
 */
export interface CrawlRefusal {
  readonly refused: "debounced" | "limited" | "queue_full" | "unsafe" | "opted_out";
  readonly retryAfterSeconds: number;
}

/** What an origin says of the file hosted for it, in the words of the API. */
export interface OriginAnswer {
  readonly verdict: "verified" | "unverified" | "unknown";
  readonly reason: components["schemas"]["OriginVerdict"]["reason"];
  /** For anyone. */
  readonly detail?: string;
}

/** How much is crawled, how often, and how many at a time. Times are milliseconds. */
export interface CrawlLimits {
  /** Least time between two requests of one domain, in milliseconds; default 5 minutes. */
  readonly debounceMs: number;
  /** Requests of one caller in an hour; default 30. */
  readonly perCallerHourly: number;
  /** Requests that may wait; default 10,000. Lookups may fill half of it. */
  readonly capacity: number;
  /** Domains crawled at once by this instance; default 4. */
  readonly concurrency: number;
  /** How often a domain is crawled by itself, in milliseconds, give or take a tenth; default 6 hours. */
  readonly recrawlMs: number;
  /** How often the origins of hosted files are asked, in milliseconds; default 1 hour. */
  readonly recheckMs: number;
  /** Delays of the attempts after the first, in milliseconds; default 1, 5, 30 and 120 minutes. */
  readonly retryMs: readonly number[];
}

/** What a crawler is made of. */
export interface CrawlerOptions extends Partial<CrawlLimits> {
  readonly store: AnyStore;
  readonly data: Pick<
    RegistryData,
    "applyCrawl" | "hostedFile" | "hostedDue" | "originChecked" | "crawlDue" | "endStale" | "recomputeEffect"
  >;
  /** Origin of this registry, e.g. `https://registry.example`: files it hosts are known by it. Default `http://localhost`. */
  readonly publicUrl?: string;
  /** Default a guarded fetch with production rules. */
  readonly fetch?: Fetcher;
  /**
   * Resolves a domain before it is queued, and where it is fetched from. Default one that asks the system's name servers,
   * names of the hosts file first.
   */
  readonly lookup?: Lookup;
  /** Default: nothing is logged. */
  readonly logger?: Logger;
  /** Default the application's own. */
  readonly meter?: Meter;
  /** Unix milliseconds; the store's clock by default, where machines share one, else the system's. */
  readonly now?: () => number;
  /** From 0 up to 1, for jitter. */
  readonly random?: () => number;
}

/** Fetches publishers' files, by request and on a schedule. */
export interface Crawler {
  /** Queues a crawl; answers the one that waits or runs already, where there is one. */
  request(
    domain: string,
    asked: { readonly requestedBy: string; readonly reason: string },
  ): Promise<CrawlRequestRecord | CrawlRefusal>;
  read(id: string): Promise<CrawlRequestRecord | undefined>;
  /** Queues a crawl for a lookup of a domain nothing is known of; answers whether it did. */
  autoCrawl(domain: string): Promise<boolean>;
  /** Fetches and reads a domain's file now, and keeps nothing; undefined for a domain that is none in public. */
  inspect(domain: string): Promise<CrawlResult["adagents"] | undefined>;
  /** Asks the origin of a hosted file now whether it points at it; its answer counts. */
  verifyOrigin(domain: string): Promise<OriginAnswer>;
  /**
   * The publishers whose ads.txt led to a manager are due once what is kept of the manager's file has run out.
   * @returns how many they are
   */
  revalidateManaged(manager: string): Promise<number>;
  /** Does a crawl of the domain wait or run? */
  pending(domain: string): Promise<boolean>;
  /**
   * An operator's word that what is held back of a domain is right: a changed authoritative location, as last seen, and a
   * file older than the one taken before. The next crawl takes it.
   * @returns false where nothing is remembered that could hold anything back
   */
  accept(domain: string): Promise<boolean>;
  /** Begins to crawl: what waits, what is due, and the origins of hosted files. */
  start(): void;
  /** Breaks off what runs and gives it back, so that another instance, or the next start, takes it up. */
  stop(): Promise<void>;
}
