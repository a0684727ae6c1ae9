/** What a move has to know of the tables of a kind of keyspaces. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Database, Query } from "../../db/types.js";
import type { CopiedRows, Copying, RowChange } from "./copy.js";

export interface KeyspaceTables {
  /** Rows that are copied while traffic goes on, and once more when it stands still. */
  rows(from: Database, to: Database, keyspace: string): Promise<readonly CopiedRows[]>;
  /** Rows that are copied only when traffic stands still, and what is counted of all. @returns how many rows */
  copyFenced(copying: Copying, keyspace: string): Promise<number>;
  /** How many rows `copyFenced` would copy. */
  countFenced(q: Query, keyspace: string): Coroutine<number>;
  /** Removes all rows of a keyspace that has moved. */
  remove(database: Database, change: RowChange, keyspace: string): Promise<void>;
  /** Names of the keyspaces of a database that was alone until now. */
  keyspaces(q: Query): Coroutine<string[]>;
}
