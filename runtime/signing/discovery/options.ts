/** Options that every kind of discovery has, and the documents several key sources share. */
import { AdbindError } from "../../errors.js";
import type { Fetcher } from "../../net/index.js";
import { type DocumentOptions, type RemoteDocument, remoteDocument } from "./document.js";
import { defaultFetch, MIN_TTL_S } from "./fetch-json.js";

/** How documents of discovery are fetched, and where they are kept. */
export interface DiscoveryOptions {
  /** Default: a guarded fetch with production rules. */
  readonly fetch?: Fetcher;
  /** Clock, unix seconds. */
  readonly now?: () => number;
  /** Documents are shared by all sources with the same cache, and with them the cooldown of a URI. Default: none shared. */
  readonly cache?: DiscoveryCache;
}

/**
 * Documents by kind and URL. Sellers with many agents publish one brand file and one key set for all of them; sources
 * sharing a cache fetch them once. The first source to ask for a document sets its fetch, clock and times.
 */
export interface DiscoveryCache {
  document<T>(kind: string, url: string, make: () => DocumentOptions<T>): RemoteDocument<T>;
}

/** Documents a cache holds. A peer that moves its key set every minute must not fill the memory; sources keep their own. */
const MAX_DOCUMENTS = 10_000;

/** A cache of documents that several sources of keys share, so that each is fetched once. */
export function createDiscoveryCache(): DiscoveryCache {
  const documents = new Map<string, RemoteDocument<unknown>>();
  return {
    document<T>(kind: string, url: string, make: () => DocumentOptions<T>) {
      const name = `${kind} ${url}`;
      const held = documents.get(name) ?? remoteDocument(make());
      documents.delete(name);
      documents.set(name, held);
      const [oldest] = documents.keys();
      if (documents.size > MAX_DOCUMENTS && oldest !== undefined) documents.delete(oldest);
      return held as RemoteDocument<T>;
    },
  };
}

export interface Discovery {
  readonly fetch: Fetcher;
  readonly now: () => number;
  readonly cache: DiscoveryCache;
}

export const discovery = ({ fetch, now, cache }: DiscoveryOptions): Discovery => ({
  fetch: fetch ?? defaultFetch(),
  now: now ?? (() => Date.now() / 1000),
  cache: cache ?? createDiscoveryCache(),
});

const bad = (where: string, remedy: string): AdbindError =>
  new AdbindError("discovery_option_invalid", "An option of key discovery cannot be used", { where, remedy });

/** @throws AdbindError `discovery_option_invalid` unless it is an absolute http(s) URL; the fetch decides about http */
export function checkedUrl(url: string, where: string): string {
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) throw bad(where, "give an absolute https URL");
  return url;
}

/** @throws AdbindError `discovery_option_invalid` unless it is between a minute and `max` */
export function checkedTtl(seconds: number, max: number): number {
  if (!(seconds >= MIN_TTL_S && seconds <= max)) throw bad("ttlSeconds", `give ${MIN_TTL_S} to ${max} seconds`);
  return seconds;
}

/** @throws AdbindError `discovery_option_invalid` unless it is a plain domain name */
export function checkedDomain(domain: string, where: string): string {
  if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/.test(domain)) throw bad(where, "give a domain name in lower case");
  return domain;
}
