/**
 * Files that speak for many domains, kept for some minutes: a manager's is the same for each of its thousands of
 * publishers. What a file may say of a domain is judged for every domain anew; only the fetch is shared.
 */
import { LRUCache } from "lru-cache";
import type { FetchedDocument, NotFetched } from "./document.js";

/** How long a file is shared, in milliseconds: a change reaches no publisher much later than it would have anyway. */
export const SHARED_MS = 5 * 60_000;
/** How long a failure is, in milliseconds: less than the shortest wait before another attempt. */
const FAILURE_MS = 20_000;
/** Text of all files kept, in bytes: one of the largest kind. Parsed they take several times as much memory. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Files kept: small ones and failures are cheap, but not free. */
const MAX_FILES = 1_000;

type Found = FetchedDocument | NotFetched;

export interface SharedFiles {
  /**
   * The file under a key, fetched by `load` where it is not known. Whoever asks while it is fetched waits for the same.
   * @param fresh what is kept does not count
   */
  get(key: string, load: () => Promise<Found>, fresh: boolean): Promise<Found>;
}

export function sharedFiles(now: () => number): SharedFiles {
  const kept = new LRUCache<string, Found>({
    max: MAX_FILES,
    maxSize: MAX_BYTES,
    // A failure has no bytes, and the cache wants some.
    sizeCalculation: (found) => (found.ok ? Math.max(1, found.bytes) : 1),
    perf: { now },
    ttlResolution: 0,
  });
  const coming = new Map<string, Promise<Found>>();

  const fetched = async (key: string, load: () => Promise<Found>): Promise<Found> => {
    const found = await load();
    // The cache still gives out what is as old as its time to live.
    const ttl = (found.ok ? SHARED_MS : FAILURE_MS) - 1;
    // One that was broken off says nothing of the file.
    if (found.ok || found.kind !== "aborted") kept.set(key, found, { ttl });
    else kept.delete(key);
    return found;
  };

  return {
    async get(key, load, fresh) {
      const known = fresh ? undefined : kept.get(key);
      if (known !== undefined) return known;
      const underWay = coming.get(key);
      if (underWay !== undefined) return underWay;
      const begun = fetched(key, load).finally(() => coming.delete(key));
      coming.set(key, begun);
      return begun;
    },
  };
}
