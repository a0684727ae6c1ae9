/** Documents that go by a buyer's own ids: two of its accounts may use one id for different things. */
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";

export interface AccountCollection<T extends object> {
  get(call: BehaviourCall, accountId: string, id: string): Promise<T | undefined>;
  /** Those of one account, or of all of the caller's; oldest first. */
  list(call: BehaviourCall, accountId?: string): Promise<T[]>;
  put(call: BehaviourCall, id: string, body: T): Promise<void>;
  remove(call: BehaviourCall, accountId: string, id: string): Promise<void>;
}

export function accountCollection<T extends { readonly account_id: string }>(name: string): AccountCollection<T> {
  const kept = collection<T>(name);
  /** Where it is kept: under its id alone, if it was written when an id was one caller's and not one account's. */
  const place = async (call: BehaviourCall, accountId: string, id: string): Promise<string> =>
    (await kept.get(call, call.principal, id))?.account_id === accountId ? id : JSON.stringify([accountId, id]);
  return {
    get: async (call, accountId, id) => kept.get(call, call.principal, await place(call, accountId, id)),
    list: async (call, accountId) =>
      (await kept.list(call, call.principal)).filter(
        ({ account_id }) => accountId === undefined || account_id === accountId,
      ),
    put: async (call, id, body) => kept.put(call, call.principal, await place(call, body.account_id, id), body),
    remove: async (call, accountId, id) => kept.remove(call, call.principal, await place(call, accountId, id)),
  };
}
