/** One sort of documents, typed. */
import type { BehaviourCall } from "./call.js";

/** What a principal has by parts, such as its accounts: it is the principal's, wherever that is. */
export interface OwnedPart {
  readonly principal: string;
  readonly part: string;
}

/** Whose documents are: a principal, a part of what it has, or `EVERYBODY`. */
export type DocumentOwner = string | OwnedPart;

/** One text for an owner, of which ids are made. */
export const ownerText = (owner: DocumentOwner): string =>
  typeof owner === "string" ? owner : `${owner.principal}/${owner.part}`;

export interface Collection<T extends object> {
  get(call: Pick<BehaviourCall, "documents">, owner: DocumentOwner, id: string): Promise<T | undefined>;
  /** Reads many at once that are asked for one by one hereafter. */
  read(call: BehaviourCall, owner: DocumentOwner, ids: readonly string[]): Promise<void>;
  list(call: BehaviourCall, owner: DocumentOwner): Promise<T[]>;
  /** The JSON of all, by id: to find which are to be read. */
  texts(call: Pick<BehaviourCall, "documents">, owner: DocumentOwner): Promise<ReadonlyMap<string, string>>;
  ids(call: BehaviourCall, owner: DocumentOwner): Promise<string[]>;
  put(call: BehaviourCall, owner: DocumentOwner, id: string, body: T): void;
  remove(call: BehaviourCall, owner: DocumentOwner, id: string): void;
  /** Removes all that an owner has. */
  clear(call: BehaviourCall, owner: DocumentOwner): Promise<void>;
}

/** Parts have collections of their own, so that the owner of a document is a principal, whatever is in its name. */
const placed = (name: string, owner: DocumentOwner): readonly [collection: string, owner: string] =>
  typeof owner === "string" ? [name, owner] : [`${name}/${owner.part}`, owner.principal];

export const collection = <T extends object>(name: string): Collection<T> => ({
  get: ({ documents }, owner, id) => documents.get<T>(...placed(name, owner), id),
  read: ({ documents }, owner, ids) => documents.read(...placed(name, owner), ids),
  list: ({ documents }, owner) => documents.list<T>(...placed(name, owner)),
  texts: ({ documents }, owner) => documents.texts(...placed(name, owner)),
  ids: ({ documents }, owner) => documents.ids(...placed(name, owner)),
  put: ({ documents }, owner, id, body) => documents.put(...placed(name, owner), id, body),
  remove: ({ documents }, owner, id) => documents.remove(...placed(name, owner), id),
  async clear({ documents }, owner) {
    const at = placed(name, owner);
    for (const id of await documents.ids(...at)) documents.remove(...at, id);
  },
});
