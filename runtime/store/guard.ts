/** What a store asks in each transaction that writes, where its database is one of several. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";

/** Each throws where the keyspace is not this database's to write: nothing has been written then. */
export interface KeyspaceGuard {
  /** @param sender whose rows are about to be written; a sender that nobody has seen becomes this database's, if it may */
  sender(query: Query, sender: string): Coroutine<void>;
  /** @param id of an event in the inbox; one that is not there passes */
  event(query: Query, id: number): Coroutine<void>;
  /** @param route of registrations; one that nobody registered passes */
  route(query: Query, route: string): Coroutine<void>;
}
