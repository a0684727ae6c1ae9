/** Where a verifier remembers nonces: an interface of its own, since signing asks it and stores offer it. */
import type { MaybePromise } from "./handler.js";

/** Remembers nonces. Every time is in unix seconds; `now` is the verifier's clock. */
export interface ReplayStore {
  /** Step 9a, a cheap look before any cryptography: the key has as many live nonces as the store keeps for one key. */
  atCap(keyid: string, now: number): MaybePromise<boolean>;
  /**
   * Step 12: has this pair been inserted and not expired? Only asked when present; a store whose `insert` costs no more
   * leaves it out.
   */
  check?(keyid: string, nonce: string, now: number): MaybePromise<boolean>;
  /**
   * Steps 12 and 13, atomically: `seen` when the pair is there already (this goes before `full`), `full` when the key's
   * or the store's cap is reached, else inserted until `expiresAt`. Nothing live is ever evicted to make room.
   */
  insert(keyid: string, nonce: string, expiresAt: number, now: number): MaybePromise<"inserted" | "seen" | "full">;
}
