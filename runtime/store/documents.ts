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
  /** Those of some ids that are there, in no order. */
  find(collection: string, owner: string, ids: readonly string[]): Promise<StoredDocument[]>;
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
const OVER = "(collection, owner, id) do update set version = excluded.version, body = excluded.body";

/** Not a count: a document that is removed and put again must not pass for the one somebody read before. */
const nextVersion = (): number => randomInt(1, 2 ** 48 - 1);

/** What one statement does, where there is nothing else to do. */
function* writeOne(q: Query, { collection, owner, id, version, body, unchanged }: DocumentChange): Coroutine<boolean> {
  const at = [collection, owner, id];
  if (unchanged === true) {
    const text = `select 1 from adbind_documents ${AT} and version = ?${q.dialect.forUpdate}`;
    return (yield* q.rows<object>(text, [...at, version ?? 0])).length > 0;
  }
  if (body === undefined) {
    if (version !== undefined)
      return (yield* q.run(`delete from adbind_documents ${AT} and version = ?`, [...at, version])) > 0;
    yield* q.run(`delete from adbind_documents ${AT}`, at);
    return true;
  }
  checkIndexNames({ collection, owner, id });
  if (version === undefined) {
    yield* q.run(`${INSERT} ${OVER}`, [...at, nextVersion(), body]);
    return true;
  }
  const text = `update adbind_documents set version = ?, body = ? ${AT} and version = ?`;
  return (yield* q.run(text, [nextVersion(), body, ...at, version])) > 0;
}

const keyOf = ({ collection, owner, id }: DocumentPlace): string => JSON.stringify([collection, owner, id]);

/** There was none, and there is to be one. */
const isNew = ({ version, body, unchanged }: DocumentChange): boolean =>
  version === 0 && body !== undefined && unchanged !== true;

/** There was none, and there is to be none: nothing to do. */
const isNothing = ({ version, body, unchanged }: DocumentChange): boolean =>
  version === 0 && body === undefined && unchanged !== true;

/** Documents written in one statement. */
const MANY = 256;
/** Collections, each of an owner, that one statement looks into: more would be a deeper condition than engines take. */
const MANY_COLLECTIONS = 100;
const KEY = [
  ["collection", "text"],
  ["owner", "text"],
  ["id", "text"],
] as const;
const COLUMNS = [...KEY, ["version", "bigint"], ["body", "text"]] as const;

/** @returns whether all of them were written: with `do nothing` one may be there by now */
function* insertAll(q: Query, places: readonly DocumentChange[], conflict: string): Coroutine<boolean> {
  for (let at = 0; at < places.length; at += MANY) {
    const rows = places.slice(at, at + MANY).map(({ collection, owner, id, body }) => {
      checkIndexNames({ collection, owner, id });
      return [collection, owner, id, nextVersion(), body!];
    });
    const written = yield* q.insert("adbind_documents", COLUMNS, rows, `on conflict ${conflict}`);
    if (written !== rows.length) return false;
  }
  return true;
}

/** One after the other: what comes later of a document finds what came before. @throws StaleDocument */
function* writeEach(q: Query, changes: readonly DocumentChange[]): Coroutine<void> {
  for (const one of changes)
    if (!(yield* isNew(one) ? insertAll(q, [one], "do nothing") : writeOne(q, one))) throw new StaleDocument(one);
}

/** Documents of the same owner and collection, which stand side by side. */
function neighbours(places: readonly DocumentChange[]): DocumentChange[][] {
  const groups: DocumentChange[][] = [];
  for (const one of places) {
    const [first] = groups.at(-1) ?? [];
    if (first?.collection === one.collection && first.owner === one.owner) groups.at(-1)!.push(one);
    else groups.push([one]);
  }
  return groups;
}

/**
 * Holds what is there of documents to the end of the transaction.
 * @returns their keys
 * @throws StaleDocument where one is not as it was read
 */
function* holdDocuments(q: Query, places: readonly DocumentChange[]): Coroutine<ReadonlySet<string>> {
  const versions = new Map<string, number>();
  const groups = neighbours(places);
  for (let at = 0; at < groups.length; at += MANY_COLLECTIONS) {
    const some = groups.slice(at, at + MANY_COLLECTIONS);
    const each = `(collection = ? and owner = ? and ${q.dialect.among("id", "text")})`;
    const values = some.flatMap((group) => {
      const { collection, owner } = group[0]!;
      return [collection, owner, q.dialect.list(group.map(({ id }) => id))];
    });
    const where = some.map(() => each).join(" or ");
    const text = `select collection, owner, id, version from adbind_documents where ${where}`;
    const rows = yield* q.rows<DocumentPlace & { readonly version: number }>(
      `${text} order by collection, owner, id${q.dialect.forUpdate}`,
      values,
    );
    for (const row of rows) versions.set(keyOf(row), row.version);
  }
  const stale = places.find((one) => one.version !== undefined && versions.get(keyOf(one)) !== one.version);
  if (stale !== undefined) throw new StaleDocument(stale);
  return new Set(versions.keys());
}

/** What is there of them is held already. */
function* insertMissing(q: Query, ordered: readonly DocumentChange[]): Coroutine<void> {
  for (let at = 0; at < ordered.length; ) {
    const fresh = isNew(ordered[at]!);
    const others = ordered.slice(at).findIndex((one) => isNew(one) !== fresh);
    const run = ordered.slice(at, others < 0 ? undefined : at + others);
    if (!(yield* insertAll(q, run, fresh ? "do nothing" : OVER))) throw new StaleDocument(run[0]!);
    at += run.length;
  }
}

/**
 * Writes documents in few statements, however many they are.
 *
 * Everywhere in one order, or two transactions on the same documents would wait for each other: first what is there is held, then
 * what is not is inserted, each by its name, and last goes what is removed, which who inserts it again waits for.
 * @throws StaleDocument; AdbindError `name_invalid` for a place whose names no index takes
 */
export function* writeDocuments(q: Query, changes: readonly DocumentChange[]): Coroutine<void> {
  const keyed = changes.filter((one) => !isNothing(one)).map((change) => ({ change, key: keyOf(change) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const ordered = keyed.map(({ change }) => change);
  // No statement changes a row twice.
  if (keyed.some(({ key }, at) => at > 0 && key === keyed[at - 1]!.key)) return yield* writeEach(q, ordered);
  const known = ordered.filter((one) => !isNew(one));
  const [only] = known;
  // One alone is not held first. What may be there or not is inserted in its turn, beside others, and what is removed goes behind them.
  const isWritten = only?.version !== undefined && (only.body !== undefined || only.unchanged === true);
  if (known.length === 1 && (ordered.length === 1 || isWritten)) {
    if (!(yield* writeOne(q, only!))) throw new StaleDocument(only!);
    yield* insertMissing(q, ordered.filter(isNew));
    return;
  }
  const held = known.length === 0 ? new Set<string>() : yield* holdDocuments(q, known);
  const isHeld = (one: DocumentChange): boolean => held.has(keyOf(one));
  const written = ordered.filter(({ body, unchanged }) => body !== undefined && unchanged !== true);
  yield* insertAll(
    q,
    written.filter((one) => !isNew(one) && isHeld(one)),
    OVER,
  );
  yield* insertMissing(
    q,
    written.filter((one) => isNew(one) || !isHeld(one)),
  );
  const removed = known.filter(({ body, unchanged }) => body === undefined && unchanged !== true).filter(isHeld);
  yield* q.remove(
    "adbind_documents",
    KEY,
    removed.map(({ collection, owner, id }) => [collection, owner, id]),
  );
}

export function* readDocument(
  q: Query,
  { collection, owner, id }: DocumentPlace,
): Coroutine<StoredDocument | undefined> {
  const text = `select id, version, body from adbind_documents ${AT}`;
  const [found] = yield* q.rows<StoredDocument>(text, [collection, owner, id]);
  return found;
}

/** Those of some ids that are there, in no order. */
export const findDocuments = (
  q: Query,
  collection: string,
  owner: string,
  ids: readonly string[],
): Coroutine<StoredDocument[]> =>
  q.rows<StoredDocument>(
    `select id, version, body from adbind_documents where collection = ? and owner = ? and ${q.dialect.among("id", "text")}`,
    [collection, owner, q.dialect.list(ids)],
  );

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
  find: (collection, owner, ids) => database.query((q) => findDocuments(q, collection, owner, ids)),
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
