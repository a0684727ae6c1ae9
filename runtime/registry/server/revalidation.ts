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
/**
 * Requests that come so shortly after each other are told one revision, in milliseconds: reading it is a good part of what a 304
 * costs, and no caller can tell which of two things that are so close together came first.
 */
const TOGETHER_MS = 2;
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

/** What is asked once for all who come at about the same time. @param clock in milliseconds, which time of day does not move */
function together<T>(ask: () => Promise<T>, clock: () => number): () => Promise<T> {
  let asked = Number.NEGATIVE_INFINITY;
  let answer: Promise<T> | undefined;
  return () => {
    const at = clock();
    if (answer !== undefined && at - asked < TOGETHER_MS) return answer;
    asked = at;
    answer = ask();
    return answer;
  };
}

/**
 * @param now unix milliseconds
 * @param clock milliseconds that only go forward
 */
export function createRevalidation(
  revision: () => Promise<number>,
  now: () => number,
  clock: () => number = () => performance.now(),
): Revalidation {
  const kept = new LRUCache<string, { readonly revision: number; readonly etag: string; readonly until: number }>({
    max: MAX_REMEMBERED,
  });
  return {
    covers: (id) => ofTheData.has(id),
    revision: together(revision, clock),
    standing({ url }, current) {
      const found = kept.get(url);
      return found !== undefined && found.revision === current && now() < found.until ? found.etag : undefined;
    },
    remember({ url }, current, etag) {
      if (url.length <= MAX_URL) kept.set(url, { revision: current, etag, until: now() + HOLDS_MS });
    },
  };
}
