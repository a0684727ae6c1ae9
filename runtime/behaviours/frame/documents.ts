/**
 * The documents of one call: it reads what is committed and what it wrote itself, each when it is asked for, and `changes`
 * are what is to be written in the transaction that records its answer.
 */
import type { DocumentChange, DocumentPlace, DocumentStore, StoredDocument } from "../../store/index.js";

/** Owner of what is nobody's in particular: a keyspace of its own, where a seller is on several databases. */
export const EVERYBODY = "(everybody)";

interface Held {
  readonly place: DocumentPlace;
  /** As read; undefined for what is written whatever is there. */
  readonly version: number | undefined;
  /** JSON; undefined: removed, or never there. */
  body: string | undefined;
  changed: boolean;
}

export interface Documents {
  /** A copy of the document. */
  get<T extends object>(collection: string, owner: string, id: string): Promise<T | undefined>;
  /** Reads many at once that are asked for one by one hereafter. */
  read(collection: string, owner: string, ids: readonly string[]): Promise<void>;
  /** All of an owner, oldest first: as they were when they were first listed, and as this call has changed them. */
  list<T extends object>(collection: string, owner: string): Promise<T[]>;
  /** The JSON of all of an owner, by id, as this call has changed them: to find what is to be read. They are not counted as read. */
  texts(collection: string, owner: string): Promise<ReadonlyMap<string, string>>;
  /** Ids of all of an owner, oldest first. */
  ids(collection: string, owner: string): Promise<string[]>;
  /** Kept with the answer. What was read before must not have changed meanwhile: the call is done again on what is there. */
  put(collection: string, owner: string, id: string, body: object): void;
  remove(collection: string, owner: string, id: string): void;
  /** Removes all that an owner has, in whatever collection. */
  removeAll(owner: string): Promise<void>;
  /** Reads it anew when it is asked for again: it was written beside this call. */
  forget(collection: string, owner: string, id: string): void;
  changes(): DocumentChange[];
}

const keyOf = (collection: string, owner: string, id: string): string => JSON.stringify([collection, owner, id]);

const parsed = <T>(body: string | undefined): T | undefined =>
  body === undefined ? undefined : (JSON.parse(body) as T);

type Reading = Pick<DocumentStore<never>, "get" | "find" | "list" | "collections">;

/** What a call has read: each document once, and each list. */
function readingOf(store: Reading, held: Map<string, Held>) {
  const reading = new Map<string, Promise<Held>>();
  const listed = new Map<string, Promise<string[]>>();
  const take = (collection: string, owner: string, found: readonly StoredDocument[]): void => {
    for (const { id, version, body } of found) {
      const key = keyOf(collection, owner, id);
      if (!held.has(key)) held.set(key, { place: { collection, owner, id }, version, body, changed: false });
    }
  };
  const listAll = async (collection: string, owner: string): Promise<string[]> => {
    const found = await store.list(collection, owner);
    take(collection, owner, found);
    return found.map(({ id }) => id);
  };
  const readOne = async (place: DocumentPlace, key: string): Promise<Held> => {
    const found = await store.get(place);
    // Written meanwhile by this call.
    const own = held.get(key);
    if (own !== undefined) return own;
    const fresh: Held = { place, version: found?.version ?? 0, body: found?.body, changed: false };
    held.set(key, fresh);
    return fresh;
  };
  return {
    async one(collection: string, owner: string, id: string): Promise<Held> {
      const key = keyOf(collection, owner, id);
      const known = held.get(key);
      if (known !== undefined) return known;
      const under = reading.get(key) ?? readOne({ collection, owner, id }, key).finally(() => reading.delete(key));
      reading.set(key, under);
      return under;
    },
    /** All that are there, or were when they were first read: what is listed for each of many items is asked for once. */
    async all(collection: string, owner: string): Promise<Held[]> {
      const at = JSON.stringify([collection, owner]);
      const known = listed.get(at) ?? listAll(collection, owner);
      listed.set(at, known);
      const there = await known;
      const added = [...held.values()]
        .filter(({ place }) => place.collection === collection && place.owner === owner)
        .map(({ place }) => place.id);
      const ids = new Set([...there, ...added]);
      return [...ids].flatMap((id) => held.get(keyOf(collection, owner, id)) ?? []);
    },
    async many(collection: string, owner: string, ids: readonly string[]): Promise<void> {
      const wanted = [...new Set(ids)].filter((id) => !held.has(keyOf(collection, owner, id)));
      if (wanted.length < 2) return;
      take(collection, owner, await store.find(collection, owner, wanted));
      for (const id of wanted) {
        const key = keyOf(collection, owner, id);
        const place = { collection, owner, id };
        if (!held.has(key)) held.set(key, { place, version: 0, body: undefined, changed: false });
      }
    },
    forget(collection: string, owner: string, id: string): void {
      held.delete(keyOf(collection, owner, id));
      listed.delete(JSON.stringify([collection, owner]));
    },
  };
}

export function openDocuments(store: Reading): Documents {
  const held = new Map<string, Held>();
  const reading = readingOf(store, held);
  const change = (place: DocumentPlace, body: object | undefined): void => {
    const key = keyOf(place.collection, place.owner, place.id);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const known = held.get(key);
    if (known === undefined) held.set(key, { place, version: undefined, body: text, changed: true });
    else Object.assign(known, { body: text, changed: true });
  };
  return {
    get: async (collection, owner, id) => parsed((await reading.one(collection, owner, id)).body),
    read: reading.many,
    list: async <T extends object>(collection: string, owner: string): Promise<T[]> =>
      (await reading.all(collection, owner)).flatMap(({ body }) => parsed<T>(body) ?? []),
    async texts(collection, owner) {
      const texts = new Map((await store.list(collection, owner)).map(({ id, body }) => [id, body]));
      for (const { place, body } of held.values()) {
        if (place.collection !== collection || place.owner !== owner) continue;
        if (body === undefined) texts.delete(place.id);
        else texts.set(place.id, body);
      }
      return texts;
    },
    ids: async (collection, owner) =>
      (await reading.all(collection, owner)).flatMap(({ place, body }) => (body === undefined ? [] : [place.id])),
    async removeAll(owner) {
      for (const collection of await store.collections(owner)) await reading.all(collection, owner);
      for (const { place } of [...held.values()]) if (place.owner === owner) change(place, undefined);
    },
    put: (collection, owner, id, body) => change({ collection, owner, id }, body),
    remove: (collection, owner, id) => change({ collection, owner, id }, undefined),
    forget: reading.forget,
    changes: () =>
      [...held.values()]
        .filter(({ changed }) => changed)
        .map(({ place, version, body }) => ({ ...place, version, body })),
  };
}
