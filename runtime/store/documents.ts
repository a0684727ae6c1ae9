/**
 * A seller's documents by collection, owner and id. They are read one by one as a call needs them, and written in a
 * transaction of the caller's under optimistic locks: who changes a document says which version of it he read.
 */
import { randomInt } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { MaybePromise } from "../contract/index.js";
import { type Coroutine, wait } from "../db/coroutine.js";
import { checkIndexNames } from "../db/names.js";
import type { Database, Query } from "../db/types.js";
import type { Effect } from "./types.js";

/** A document's place: `owner` is whose it is (empty: everybody's), `id` its name among them. */
export interface DocumentPlace {
  readonly collection: string;
  readonly owner: string;
  readonly id: string;
}

/** A document as it is kept, with the version to be named when it is written. */
export interface StoredDocument {
  readonly id: string;
  readonly version: number;
  /** JSON. */
  readonly body: string;
}

/** One document to be written, if its version is still the one that was read. */
export interface DocumentChange extends DocumentPlace {
  /** As read; 0 where there was none; undefined to write whatever is there. */
  readonly version: number | undefined;
  /** JSON; undefined removes it. */
  readonly body: string | undefined;
  /** Nothing is written: it is to be as it was read, for what is written beside it. */
  readonly unchanged?: true;
}

/** Another transaction has changed what this one meant to change: it is to be done again on what is there now. */
export class StaleDocument extends Error {
  override readonly name = "StaleDocument";
  constructor(readonly place: DocumentPlace) {
    super(`${place.collection} ${place.id} was changed meanwhile`);
  }
}

/** Of those who change the same documents one gets through each time: so many may meet before one gives up. */
const MAX_ATTEMPTS = 24;
const MAX_PAUSE_MS = 64;

/**
 * Does work again, on what is there by then, as long as somebody else changes its documents meanwhile.
 * @throws StaleDocument when too many are at it
 */
export async function onFreshDocuments<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StaleDocument) || attempt === MAX_ATTEMPTS) throw error;
      // Those who met once would meet again in step.
      await setTimeout(Math.random() * Math.min(2 ** attempt, MAX_PAUSE_MS));
    }
  }
}

/** A seller's documents by collection and key, under optimistic locks. */
export interface DocumentStore<Tx = unknown> {
  get(place: DocumentPlace): Promise<StoredDocument | undefined>;
  /** All of an owner, in the order they were first written. */
  list(collection: string, owner: string): Promise<StoredDocument[]>;
  /** Whose documents a collection has. */
  owners(collection: string): Promise<string[]>;
  /** Collections in which an owner has documents. It looks through all there are: for what is seldom asked. */
  collections(owner: string): Promise<string[]>;
  /** Part of a transaction; on SQLite no promise. @throws StaleDocument, and nothing of it is to be committed; AdbindError `name_invalid` */
  write(tx: Tx, changes: readonly DocumentChange[]): MaybePromise<void>;
  /**
   * A transaction of its own, with what else belongs into it.
   * @param owner whose transaction it is where it changes no documents: on several databases it is begun where that one is
   * @throws StaleDocument; AdbindError `name_invalid` for a place whose names no index takes
   */
  commit(changes: readonly DocumentChange[], effects?: readonly Effect<Tx>[], owner?: string): Promise<void>;
}

const AT = "where collection = ? and owner = ? and id = ?";
const INSERT = "insert into adbind_documents (collection, owner, id, version, body) values (?, ?, ?, ?, ?) on conflict";

/** Not a count: a document that is removed and put again must not pass for the one somebody read before. */
const nextVersion = (): number => randomInt(1, 2 ** 48 - 1);

function* writeOne(q: Query, { collection, owner, id, version, body, unchanged }: DocumentChange): Coroutine<boolean> {
  const at = [collection, owner, id];
  if (unchanged === true) {
    const rows = yield* q.rows<object>(`select 1 from adbind_documents ${AT} and version = ?`, [...at, version ?? 0]);
    return rows.length > 0;
  }
  if (body === undefined) {
    if (version === 0) return true;
    if (version !== undefined)
      return (yield* q.run(`delete from adbind_documents ${AT} and version = ?`, [...at, version])) > 0;
    yield* q.run(`delete from adbind_documents ${AT}`, at);
    return true;
  }
  checkIndexNames({ collection, owner, id });
  const row = [...at, nextVersion(), body];
  if (version === 0) return (yield* q.run(`${INSERT} do nothing`, row)) > 0;
  if (version === undefined) {
    const over = "(collection, owner, id) do update set version = excluded.version, body = excluded.body";
    yield* q.run(`${INSERT} ${over}`, row);
    return true;
  }
  const changed = yield* q.run(`update adbind_documents set version = ?, body = ? ${AT} and version = ?`, [
    nextVersion(),
    body,
    ...at,
    version,
  ]);
  return changed > 0;
}

const keyOf = ({ collection, owner, id }: DocumentPlace): string => JSON.stringify([collection, owner, id]);

/** There was none, and there is to be one. */
const isNew = ({ version, body, unchanged }: DocumentChange): boolean =>
  version === 0 && body !== undefined && unchanged !== true;

/** New documents in one statement. */
const MANY = 256;
const COLUMNS = [
  ["collection", "text"],
  ["owner", "text"],
  ["id", "text"],
  ["version", "bigint"],
  ["body", "text"],
] as const;

/** All of them, or one is there by now. */
function* insertNew(q: Query, places: readonly DocumentChange[]): Coroutine<boolean> {
  const rows = places.map(({ collection, owner, id, body }) => {
    checkIndexNames({ collection, owner, id });
    return [collection, owner, id, nextVersion(), body!];
  });
  return (yield* q.insert("adbind_documents", COLUMNS, rows, "on conflict do nothing")) === rows.length;
}

/** @throws StaleDocument; AdbindError `name_invalid` for a place whose names no index takes */
export function* writeDocuments(q: Query, changes: readonly DocumentChange[]): Coroutine<void> {
  // In one order everywhere: two transactions on the same documents would wait for each other otherwise.
  const keyed = changes.map((change) => ({ change, key: keyOf(change) }));
  const ordered = keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ change }) => change);
  for (let at = 0; at < ordered.length; ) {
    const others = ordered.slice(at, at + MANY).findIndex((change) => !isNew(change));
    const fresh = ordered.slice(at, at + (others < 0 ? MANY : others));
    const written = yield* fresh.length > 1 ? insertNew(q, fresh) : writeOne(q, ordered[at]!);
    if (!written) throw new StaleDocument(ordered[at]!);
    at += Math.max(1, fresh.length);
  }
}

export function* readDocument(
  q: Query,
  { collection, owner, id }: DocumentPlace,
): Coroutine<StoredDocument | undefined> {
  const text = `select id, version, body from adbind_documents ${AT}`;
  const [found] = yield* q.rows<StoredDocument>(text, [collection, owner, id]);
  return found;
}

export const listDocuments = (q: Query, collection: string, owner: string): Coroutine<StoredDocument[]> =>
  q.rows<StoredDocument>(
    "select id, version, body from adbind_documents where collection = ? and owner = ? order by position",
    [collection, owner],
  );

export function* documentOwners(q: Query, collection: string): Coroutine<string[]> {
  const text = "select distinct owner from adbind_documents where collection = ? order by owner";
  return (yield* q.rows<{ owner: string }>(text, [collection])).map(({ owner }) => owner);
}

export function* documentCollections(q: Query, owner: string): Coroutine<string[]> {
  const text = "select distinct collection from adbind_documents where owner = ? order by collection";
  return (yield* q.rows<{ collection: string }>(text, [owner])).map(({ collection }) => collection);
}

/** A document store on a database. */
export const documentStore = <Tx>(database: Database<Tx>): DocumentStore<Tx> => ({
  get: (place) => database.query((q) => readDocument(q, place)),
  list: (collection, owner) => database.query((q) => listDocuments(q, collection, owner)),
  owners: (collection) => database.query((q) => documentOwners(q, collection)),
  collections: (owner) => database.query((q) => documentCollections(q, owner)),
  write: (tx, changes) => database.within(tx, (q) => writeDocuments(q, changes)),
  commit: (changes, effects = []) =>
    database.write(function* (q, tx) {
      yield* writeDocuments(q, changes);
      for (const effect of effects) yield* wait(effect(tx));
    }),
});
