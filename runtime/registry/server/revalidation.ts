/**
 * Answers that a caller has already. Making one only to find that it is as before costs what a first one costs; while the
 * data's revision stands and no authorization began or ended meanwhile, the fingerprint told before still holds.
 */
import type { FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import type { OperationId } from "./document.js";

/** Answers remembered: some 300 bytes each. */
const MAX_REMEMBERED = 50_000;
/** How long a fingerprint holds while nothing was written: time alone begins and ends authorizations. In milliseconds. */
const HOLDS_MS = 60_000;
/** Longest address remembered, in characters. */
const MAX_URL = 2_048;

/** Reads that are made of the data and nothing else. */
const ofTheData: ReadonlySet<OperationId> = new Set<OperationId>([
  "lookupPublisher",
  "lookupAuthorization",
  "lookupDomain",
  "lookupProperty",
  "listAgentPublishers",
  "readStats",
  "listPublishers",
  "listAgentDomains",
  "listProperties",
  "listBrands",
  "findBrands",
  "resolveBrand",
  "readBrandFile",
  "readAgentPublishers",
  "readAgentPublishersLegacy",
  "searchAll",
]);

export interface Revalidation {
  /** Whether answers of an operation are remembered. */
  covers(id: OperationId): boolean;
  /** The revision before an answer is made. */
  revision(): Promise<number>;
  /** The fingerprint that still holds for what is asked. */
  standing(request: FastifyRequest, revision: number): string | undefined;
  remember(request: FastifyRequest, revision: number, etag: string): void;
}

/** @param now unix milliseconds */
export function createRevalidation(revision: () => Promise<number>, now: () => number): Revalidation {
  const kept = new LRUCache<string, { readonly revision: number; readonly etag: string; readonly until: number }>({
    max: MAX_REMEMBERED,
  });
  return {
    covers: (id) => ofTheData.has(id),
    revision,
    standing({ url }, current) {
      const found = kept.get(url);
      return found !== undefined && found.revision === current && now() < found.until ? found.etag : undefined;
    },
    remember({ url }, current, etag) {
      if (url.length <= MAX_URL) kept.set(url, { revision: current, etag, until: now() + HOLDS_MS });
    },
  };
}
