/** A replay store in memory: for one process that may forget its nonces when it restarts. */
import { AdbindError } from "../errors.js";
import type { ReplayStore } from "./types.js";

/** Live nonces one webhook key may have: more is a broken or a stolen key. */
const PER_KEY_CAP_ENTRIES = 100_000;
/** Live nonces of all keys, about 150 bytes each: bounds the memory an attacker with many keys can take. */
const TOTAL_CAP_ENTRIES = 1_000_000;

/** How many live nonces are kept, for a key and in all. */
export interface MemoryReplayOptions {
  /** Entries one key may have. */
  readonly perKeyCap?: number;
  /** Entries all keys may have together. */
  readonly totalCap?: number;
}

/** Nonces in the memory of one process: for tests and single processes, since others do not see them. */
export interface MemoryReplayStore extends ReplayStore {
  atCap(keyid: string, now: number): boolean;
  insert(keyid: string, nonce: string, expiresAt: number, now: number): "inserted" | "seen" | "full";
  /** Entries held, expired ones that no call has swept yet included. */
  readonly size: number;
}

/** One object per key, so that an entry does not hold a keyid of its own. */
interface KeyEntries {
  readonly keyid: string;
  readonly nonces: Set<string>;
}

/**
 * Makes a bounded store that answers at once. An entry lives through the second it expires at; expiry costs each entry
 * once, whatever else is held.
 * @throws AdbindError `signing_option_invalid` when a cap is not a positive integer
 */
export function memoryReplayStore(options: MemoryReplayOptions = {}): MemoryReplayStore {
  const { perKeyCap = PER_KEY_CAP_ENTRIES, totalCap = TOTAL_CAP_ENTRIES } = options;
  for (const [where, cap] of Object.entries({ perKeyCap, totalCap })) {
    if (Number.isSafeInteger(cap) && cap > 0) continue;
    throw new AdbindError("signing_option_invalid", "A cap must be a positive integer", { where });
  }
  const byKey = new Map<string, KeyEntries>();
  /** Entries by the second they expire at. */
  const expiring = new Map<number, (readonly [key: KeyEntries, entry: string])[]>();
  let size = 0;
  let sweptBefore = 0;

  const sweep = (now: number): void => {
    if (now <= sweptBefore) return;
    sweptBefore = now;
    for (const [second, entries] of expiring) {
      if (second >= now) continue;
      for (const [key, entry] of entries) {
        key.nonces.delete(entry);
        if (key.nonces.size === 0) byKey.delete(key.keyid);
      }
      size -= entries.length;
      expiring.delete(second);
    }
  };

  return {
    get size() {
      return size;
    },
    atCap(keyid, now) {
      sweep(now);
      return (byKey.get(keyid)?.nonces.size ?? 0) >= perKeyCap;
    },
    insert(keyid, nonce, expiresAt, now) {
      sweep(now);
      // Joined, and so copied when hashed: a nonce cut out of a header would keep the whole header alive.
      const entry = `${nonce} `;
      const key = byKey.get(keyid) ?? { keyid, nonces: new Set<string>() };
      if (key.nonces.has(entry)) return "seen";
      if (size >= totalCap || key.nonces.size >= perKeyCap) return "full";
      if (key.nonces.size === 0) byKey.set(keyid, key);
      key.nonces.add(entry);
      const second = Math.ceil(expiresAt);
      const bucket = expiring.get(second);
      if (bucket === undefined) expiring.set(second, [[key, entry]]);
      else bucket.push([key, entry]);
      size++;
      return "inserted";
    },
  };
}
