/**
 * The documents of one call: it reads what is committed and what it wrote itself, each when it is asked for, and `changes`
 * are what is to be written in the transaction that records its answer.
 */
import type { DocumentChange, DocumentPlace, DocumentStore } from "../../store/index.js";

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
  /** All of an owner, oldest first. */
  list<T extends object>(collection: string, owner: string): Promise<T[]>;
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

export function openDocuments(store: Pick<DocumentStore<never>, "get" | "list" | "collections">): Documents {
  const held = new Map<string, Held>();
  const reading = new Map<string, Promise<Held>>();
  const hold = async (collection: string, owner: string, id: string): Promise<Held> => {
    const key = keyOf(collection, owner, id);
    const place = { collection, owner, id };
    const read = async (): Promise<Held> => {
      const found = await store.get(place);
      // Written meanwhile by this call.
      const own = held.get(key);
      if (own !== undefined) return own;
      const fresh: Held = { place, version: found?.version ?? 0, body: found?.body, changed: false };
      held.set(key, fresh);
      return fresh;
    };
    const known = held.get(key);
    if (known !== undefined) return known;
    const under = reading.get(key) ?? read().finally(() => reading.delete(key));
    reading.set(key, under);
    return under;
  };
  const change = (place: DocumentPlace, body: object | undefined): void => {
    const key = keyOf(place.collection, place.owner, place.id);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const known = held.get(key);
    if (known === undefined) held.set(key, { place, version: undefined, body: text, changed: true });
    else Object.assign(known, { body: text, changed: true });
  };
  /** All that are there, or were when they were first read. */
  const holdAll = async (collection: string, owner: string): Promise<Held[]> => {
    const listed = await store.list(collection, owner);
    for (const { id, version, body } of listed) {
      const key = keyOf(collection, owner, id);
      if (!held.has(key)) held.set(key, { place: { collection, owner, id }, version, body, changed: false });
    }
    const added = [...held.values()]
      .filter(({ place }) => place.collection === collection && place.owner === owner)
      .map(({ place }) => place.id);
    const ids = new Set([...listed.map(({ id }) => id), ...added]);
    return [...ids].flatMap((id) => held.get(keyOf(collection, owner, id)) ?? []);
  };
  return {
    get: async (collection, owner, id) => parsed((await hold(collection, owner, id)).body),
    list: async <T extends object>(collection: string, owner: string): Promise<T[]> =>
      (await holdAll(collection, owner)).flatMap(({ body }) => parsed<T>(body) ?? []),
    ids: async (collection, owner) =>
      (await holdAll(collection, owner)).flatMap(({ place, body }) => (body === undefined ? [] : [place.id])),
    async removeAll(owner) {
      for (const collection of await store.collections(owner)) await holdAll(collection, owner);
      for (const { place } of [...held.values()]) if (place.owner === owner) change(place, undefined);
    },
    put: (collection, owner, id, body) => change({ collection, owner, id }, body),
    remove: (collection, owner, id) => change({ collection, owner, id }, undefined),
    forget: (collection, owner, id) => void held.delete(keyOf(collection, owner, id)),
    changes: () =>
      [...held.values()]
        .filter(({ changed }) => changed)
        .map(({ place, version, body }) => ({ ...place, version, body })),
  };
}
