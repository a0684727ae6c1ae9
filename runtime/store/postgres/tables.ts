/** What the statements here run on, and how counters are spread. */
import type { PostgresDatabase, PostgresTx } from "../../db/postgres/open.js";

export type Db = PostgresDatabase;
export type Tx = PostgresTx;

/** Caps from here on are counted in shards; below, one row keeps the bound exact. */
const SHARDED_CAP = 10_000;
export const SHARDS = 16;

/** Where an insert under a cap is counted: spread by the key's first byte, so that instances seldom share a row. */
export const shardOf = (key: Uint8Array, cap: number): { shard: number; cap: number } =>
  cap < SHARDED_CAP ? { shard: 0, cap } : { shard: key[0]! % SHARDS, cap: Math.floor(cap / SHARDS) };
