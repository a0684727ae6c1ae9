/** What a sender and a seller have in one database of a set. */
import type { Coroutine } from "../../db/coroutine.js";
import type { AnyDatabase } from "../../db/open.js";
import type { Query } from "../../db/types.js";
import type { Router } from "./router.js";

/** One database of principals. */
export interface PrincipalPart {
  readonly name: string;
  readonly database: AnyDatabase;
  /** Holds a principal here to the end of the transaction. @throws KeyspaceElsewhere, before anything is written */
  hold(query: Query, principal: string): Coroutine<void>;
  /** The same of several at once. */
  holdAll(query: Query, principals: Iterable<string>): Coroutine<void>;
}

export type PrincipalRouter = Router<PrincipalPart>;
