/** Senders and sellers on several databases: all of one principal is in one of them. */

import type { ReplayStore } from "../../contract/replay-store.js";
import type { AnyDatabase } from "../../db/open.js";
import type { Database } from "../../db/types.js";
import type { ReplayOptions } from "../types.js";
import { type Asking, holdKeyspace, holdKeyspaces } from "./elsewhere.js";
import { type DatabaseHealth, type SplitDatabase, sharedClock } from "./member.js";
import type { SplitSet } from "./placement.js";
import { principalReplay } from "./principal-nonces.js";
import type { PrincipalPart, PrincipalRouter } from "./principal-part.js";
import type { TxOfDatabase } from "./receivers.js";
import { openRouter, type SplitOptions } from "./router.js";
import { readKeyspace } from "./rows.js";

/** Several databases as the store of a sender and of a seller. */
export interface PrincipalStore<Tx = unknown> {
  /** What senders and sellers find the database of a principal by. */
  readonly principals: PrincipalRouter;
  /**
   * The database that has a principal's rows: a transaction in which an application writes and tells of it begins there.
   * @throws AdbindError `split_moving`, `split_outdated`, `database_unreachable`
   */
  databaseOf(principal: string): Promise<Database<Tx>>;
  /** Nonces of requests that callers sign, shared by every instance. */
  replay(options?: ReplayOptions): ReplayStore;
  /** Whether each database answered when it was last asked. */
  readonly databases: () => readonly DatabaseHealth[];
  /** What time it is for all instances, by the server of one of the databases; each goes by its own machine's clock without. */
  readonly now?: () => number;
  /** The set as this instance knows it. */
  set(): SplitSet;
  close(): Promise<void>;
}

/**
 * The store of a sender and a seller in several databases of one engine: tasks, channels, secrets, events, activity and
 * idempotency of one principal are in one of them, by rendezvous hashing over the databases' names. See docs/split.md.
 * @param databases all of the set; one that is still to be added may be among them
 * @throws AdbindError `split_invalid`, `split_outdated` where the set has a database that was not given, `store_option_invalid`
 * for a name, and what a database says that cannot be opened, where none can
 */
export async function shardedByPrincipal<D extends AnyDatabase>(
  databases: readonly SplitDatabase<D>[],
  options: SplitOptions = {},
): Promise<PrincipalStore<TxOfDatabase<D>>> {
  const make = (database: D, asking: Asking, name: string): PrincipalPart => ({
    name,
    database,
    hold: (q, principal) => holdKeyspace(q, asking, principal),
    holdAll: (q, principals) => holdKeyspaces(q, asking, principals),
  });
  const principals = await openRouter<PrincipalPart, D>({ kind: "principal", databases, make, options });
  const now = options.now === undefined ? await sharedClock(principals.members) : undefined;
  return {
    principals,
    databaseOf: (principal) =>
      principals.at(principal, async ({ hold }, database) => {
        const row = await database.query((q) => readKeyspace(q, "principal", principal));
        // Whoever is new begins where it belongs, and is there when the transaction that is about to begin asks.
        if (row?.state !== "here") await database.write((q) => hold(q, principal));
        return database as Database<TxOfDatabase<D>>;
      }),
    replay: (given) => principalReplay(principals, given),
    databases: () => [...principals.members.values()].map(({ health }) => health),
    set: principals.set,
    ...(now && { now }),
    close: principals.close,
  };
}
