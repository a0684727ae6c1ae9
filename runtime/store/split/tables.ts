/** What a move has to know of the tables of a kind of keyspaces. */
import type { Coroutine } from "../../db/coroutine.js";
import type { AnyDatabase } from "../../db/open.js";
import type { Database, Query } from "../../db/types.js";
import type { CopiedRows, Copying, RowChange } from "./copy.js";

/** Changes that applications stored by SQL in a database, and that go nowhere with their principal. */
export interface StaysBehind {
  /** A sender has still to make their events. */
  readonly waiting: number;
  /** Set aside, for an operator. */
  readonly kept: number;
}

export interface KeyspaceTables {
  /** Rows that are copied while traffic goes on, and once more when it stands still. */
  rows(from: Database, to: Database, keyspace: string): Promise<readonly CopiedRows[]>;
  /**
   * Begins to copy what is only ever added to, while traffic goes on.
   * @returns copies the rest when it stands still, and answers how many rows those were
   */
  copyLogs?(copying: Copying, keyspace: string): Promise<(fenced: Copying) => Promise<number>>;
  /** How much of a keyspace somebody is at work on, under a lease: it is moved when that is over. */
  leased?(q: Query, keyspace: string, now: number): Coroutine<number>;
  /**
   * Rows that are copied only when traffic stands still, and what is counted of all.
   * @param until when the fence may be lifted by anybody, unix milliseconds: what is copied is nobody's to work on before
   * @returns how many rows
   */
  copyFenced(copying: Copying, keyspace: string, until: number): Promise<number>;
  /** How many rows `copyFenced` and `copyLogs` would copy. */
  countFenced(q: Query, keyspace: string): Coroutine<number>;
  /** What was copied is anybody's to work on, now that it is here. */
  arrived?(q: Query, keyspace: string, until: number): Coroutine<void>;
  /** Removes all rows of a keyspace that has moved. */
  remove(database: Database, change: RowChange, keyspace: string): Promise<void>;
  /** What a database has that is no keyspace's: once it is off the lists, nobody looks at it. */
  staysBehind?(q: Query): Coroutine<StaysBehind>;
  /** Names of the keyspaces of a database that was alone until now. */
  keyspaces(q: Query): Coroutine<string[]>;
  /** Gives rows of a database that was alone the names they have in one of several. */
  named?(q: Query, engine: AnyDatabase["engine"]): Coroutine<void>;
  /**
   * How many keyspaces beside these have rows there that a move would leave behind, for nothing says their names.
   * @param now unix milliseconds
   */
  unnamed?(q: Query, names: readonly string[], now: number): Coroutine<number>;
}
