/** One sort of documents, typed. */
import type { BehaviourCall } from "./call.js";

export interface Collection<T extends object> {
  get(call: BehaviourCall, owner: string, id: string): Promise<T | undefined>;
  list(call: BehaviourCall, owner: string): Promise<T[]>;
  put(call: BehaviourCall, owner: string, id: string, body: T): void;
  remove(call: BehaviourCall, owner: string, id: string): void;
  /** Removes all that an owner has. */
  clear(call: BehaviourCall, owner: string, idOf: (body: T) => string): Promise<void>;
}

export const collection = <T extends object>(name: string): Collection<T> => ({
  get: ({ documents }, owner, id) => documents.get<T>(name, owner, id),
  list: ({ documents }, owner) => documents.list<T>(name, owner),
  put: ({ documents }, owner, id, body) => documents.put(name, owner, id, body),
  remove: ({ documents }, owner, id) => documents.remove(name, owner, id),
  async clear({ documents }, owner, idOf) {
    for (const one of await documents.list<T>(name, owner)) documents.remove(name, owner, idOf(one));
  },
});
