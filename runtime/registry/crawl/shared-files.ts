/**
 * Files that speak for many domains, kept for some minutes: a manager's is the same for each of its thousands of
 * publishers. What a file may say of a domain is judged for every domain anew; only the fetch is shared.
 */
import type { Fault, FetchedDocument } from "./document.js";

/** How long a file is shared, in milliseconds: a change reaches no publisher much later than it would have anyway. */
const SHARED_MS = 5 * 60_000;
/** How long a failure is, in milliseconds: less than the shortest wait before another attempt. */
const FAILURE_MS = 20_000;
/** Text of all files kept, in bytes: one of the largest kind. Parsed they take several times as much memory. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Files kept: small ones and failures are cheap, but not free. */
const MAX_FILES = 1_000;

type Found = FetchedDocument | Fault;

export interface SharedFiles {
  /**
   * The file under a key, fetched by `load` where it is not known. Whoever asks while it is fetched waits for the same.
   * @param fresh what is kept does not count
   */
  get(key: string, load: () => Promise<Found>, fresh: boolean): Promise<Found>;
}

export function sharedFiles(now: () => number): SharedFiles {
  const kept = new Map<string, { readonly found: Found; readonly bytes: number; readonly until: number }>();
  const coming = new Map<string, Promise<Found>>();
  let total = 0;

  const drop = (key: string): void => {
    total -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };

  const keep = (key: string, found: Found): void => {
    drop(key);
    // One that was broken off says nothing of the file.
    if (!found.ok && found.kind === "aborted") return;
    const bytes = found.ok ? found.bytes : 0;
    if (bytes > MAX_BYTES) return;
    kept.set(key, { found, bytes, until: now() + (found.ok ? SHARED_MS : FAILURE_MS) });
    total += bytes;
    for (const [other, { until }] of kept) if (until <= now()) drop(other);
    for (const other of kept.keys()) {
      if (total <= MAX_BYTES && kept.size <= MAX_FILES) return;
      drop(other);
    }
  };

  const fetched = async (key: string, load: () => Promise<Found>): Promise<Found> => {
    const found = await load();
    keep(key, found);
    return found;
  };

  return {
    async get(key, load, fresh) {
      const known = kept.get(key);
      if (known !== undefined && !fresh && known.until > now()) {
        // Moved to the end: what is asked for again goes last.
        kept.delete(key);
        kept.set(key, known);
        return known.found;
      }
      const underWay = coming.get(key);
      if (underWay !== undefined) return underWay;
      const begun = fetched(key, load).finally(() => coming.delete(key));
      coming.set(key, begun);
      return begun;
    },
  };
}
