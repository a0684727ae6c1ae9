/**
 * Where documents are kept: a table of the seller's store. They are read without waiting, so that the domain is plain
 * functions; what has to be waited for happens before a call, and when it commits.
 */
import type { SellerStore, TxOf } from "adbind/seller";
import { openPostgresShelf } from "./shelf-postgres.js";
import { openSqliteShelf } from "./shelf-sqlite.js";

/** What an effect gets: the SQLite connection, or a transaction of PostgreSQL. */
export type Tx = TxOf<SellerStore>;

/** A document's place: `kind` is its sort, `owner` whose it is (empty: everybody's), `id` its name among them. */
export interface Place {
  readonly kind: string;
  readonly owner: string;
  readonly id: string;
}

export interface Fixture extends Place {
  readonly body: object;
}

export interface Kept {
  readonly version: number;
  /** JSON. */
  readonly body: string;
}

export interface Change extends Place {
  /** As read; 0 where there was none. */
  readonly version: number;
  /** JSON; undefined removes it. */
  readonly body: string | undefined;
}

export interface Shelf {
  /** Ends when what had been committed before, by any process of this seller, is what is read. */
  catchUp(): Promise<void>;
  read(place: Place): Kept | undefined;
  /** Names of an owner's documents, oldest first. */
  ids(kind: string, owner: string): string[];
  /**
   * Writes changes in a transaction; on SQLite without a promise.
   * @returns the first that was not written, because another call had changed its document
   */
  write(tx: Tx, changes: readonly Change[]): Change | undefined | Promise<Change | undefined>;
}

/** Makes the table where it is missing, and puts in the fixtures that are not there yet. */
export const openShelf = async (store: SellerStore, fixtures: readonly Fixture[]): Promise<Shelf> =>
  "pool" in store ? openPostgresShelf(store, fixtures) : openSqliteShelf(store, fixtures);
