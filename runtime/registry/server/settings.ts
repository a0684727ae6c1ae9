/** What a registry is made from, checked once. */
import type { Tracer } from "@opentelemetry/api";
import type { Logger } from "pino";
import { AdbindError } from "../../errors.js";
import type { AnyStore } from "../../store/index.js";
import type { CrawlerOptions } from "../crawl/index.js";
import type { RegistryData, SearchParts } from "../types.js";
import type { Limits } from "./limits.js";
import type { TrustedIssuer } from "./trusted-issuer.js";

/** What a registry's server is made of. Times are milliseconds. */
export interface RegistryOptions {
  /** Opened store; who opened it closes it. */
  readonly store: AnyStore;
  /** Public base URL, e.g. `https://registry.example`: issuer of tokens, and what hosted files' URLs begin with. Default `http://localhost:8080`. */
  readonly baseUrl?: string;
  /** Default the data of `store`. */
  readonly data?: RegistryData;
  /**
   * `on`: this instance crawls; `queue`: it takes requests for crawls, and another instance on the store makes them; `off`:
   * nobody does. Default `on`, from `listen` on.
   */
  readonly crawling?: "on" | "queue" | "off";
  /** Where this instance crawls, it asks agents too how they are and what they can do. Default true. */
  readonly probing?: boolean;
  /** How crawls are made, beyond the defaults. */
  readonly crawl?: Omit<CrawlerOptions, "store" | "data" | "publicUrl" | "logger" | "meter" | "now">;
  /** OAuth 2.1 issuers whose access tokens are accepted, beside the embedded one. */
  readonly issuers?: readonly TrustedIssuer[];
  /** False turns the embedded issuer and its log-in off. Default true. */
  readonly embeddedIssuer?: boolean;
  /** Requests per window, by name; 0 is no limit. False turns all off. */
  readonly limits?: Partial<Limits> | false;
  /** Addresses or networks of proxies in front, whose `X-Forwarded-For` is believed: `10.0.0.0/8`, `loopback`. Default none. */
  readonly trustedProxies?: readonly string[];
  /** Longest body of a request, in bytes. Default 1 MiB. */
  readonly bodyLimitBytes?: number;
  /** How long `/readyz` says no before connections are closed, in milliseconds: time for a proxy to look away. Default 0. */
  readonly drainMs?: number;
  /**
   * False closes the page that searches agents: it needs no credential, unlike the API's search, and shows public agents to
   * whoever asks, fifty at a time. Default true.
   */
  readonly pageSearch?: boolean;
  /** Agents that no member registered are found by a search too. Default false. */
  readonly searchDiscovered?: boolean;
  /** Who answers searches: an index in memory, or the store's database itself, where it can be shared. Default `memory`. */
  readonly search?: "memory" | "database";
  /** With `database`: a replica of the store, opened, that searches ask instead; it may be behind. */
  readonly searchCopy?: AnyStore | undefined;
  /** In place of both: where the processes are that hold a part of the index each, and how they are asked. */
  readonly searchParts?: Omit<SearchParts, "onAnswer"> | undefined;
  readonly logger?: Logger;
  /** Gets a span per request. Default the application's own, which does nothing unless it set one up. */
  readonly tracer?: Tracer;
  /** Reaches issuers; default the platform's. */
  readonly fetch?: typeof fetch;
  /** Unix milliseconds; by default the store's clock, where machines share one, and the system's for tokens and all other stores. */
  readonly now?: () => number;
}

/** 1 MiB: a thousand selectors with twenty identifiers each. */
const BODY_LIMIT_BYTES = 1_048_576;
export const DEFAULT_BASE_URL = "http://localhost:8080";

const bad = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("registry_option_invalid", what, { where, remedy });

/** @throws AdbindError `registry_option_invalid` */
export function checkedBaseUrl(given: string): string {
  if (!URL.canParse(given)) throw bad("the base URL cannot be used", given, "give https://host");
  const url = new URL(given);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw bad("the base URL cannot be used", given, "give https://host");
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "" || url.username !== "")
    throw bad("the base URL has more than an origin", given, "give scheme, host and port only: paths are fixed");
  return url.origin;
}

function wholeNumber(name: string, value: number, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw bad(`${name} cannot be used`, String(value), `give a whole number from ${least} to ${most}`);
}

export function checkedNumbers(options: Pick<RegistryOptions, "bodyLimitBytes" | "drainMs">) {
  return {
    bodyLimitBytes: wholeNumber(
      "the body limit",
      options.bodyLimitBytes ?? BODY_LIMIT_BYTES,
      1_024,
      100 * BODY_LIMIT_BYTES,
    ),
    drainMs: wholeNumber("the drain time", options.drainMs ?? 0, 0, 600_000),
  };
}
