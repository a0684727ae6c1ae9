/** Documents that go by a buyer's own ids: two of its accounts may use one id for different things. */
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";

export interface AccountCollection<T extends object> {
  get(call: BehaviourCall, accountId: string, id: string): Promise<T | undefined>;
  /** Those of one account, or of all of the caller's; oldest first. */
  list(call: BehaviourCall, accountId?: string): Promise<T[]>;
  put(call: BehaviourCall, id: string, body: T): void;
  remove(call: BehaviourCall, accountId: string, id: string): void;
}

export function accountCollection<T extends { readonly account_id: string }>(name: string): AccountCollection<T> {
  const kept = collection<T>(name);
  const place = (accountId: string, id: string): string => JSON.stringify([accountId, id]);
  return {
    get: (call, accountId, id) => kept.get(call, call.principal, place(accountId, id)),
    list: async (call, accountId) =>
      (await kept.list(call, call.principal)).filter(
        ({ account_id }) => accountId === undefined || account_id === accountId,
      ),
    put: (call, id, body) => kept.put(call, call.principal, place(body.account_id, id), body),
    remove: (call, accountId, id) => kept.remove(call, call.principal, place(accountId, id)),
  };
}
