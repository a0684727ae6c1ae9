/** What is counted of a keyspace's rows beside them, so that caps cost no count: each engine counts in its own way. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";

/** A receiver's keyspace by its numbers in one database. */
export interface CountedKeyspace {
  readonly sender: number;
  /** Of `adbind_nonce_keys`. */
  readonly nonceKeys: readonly number[];
}

export interface KeyspaceCounts {
  /** Are the sender's claims counted in shards? */
  sharded(q: Query, sender: number): Coroutine<boolean>;
  /** Counts anew what is there. */
  recount(q: Query, counted: CountedKeyspace, sharded: boolean): Coroutine<void>;
}
