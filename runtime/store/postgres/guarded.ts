/** What a transaction asks first where its database is one of several; of a store that is alone, nothing. */
import { runAsync } from "../../db/coroutine.js";
import { type Sql, sql } from "../../db/postgres/sql.js";
import { onlyDatabase } from "../alone.js";
import type { KeyspaceGuard } from "../guard.js";
import type { Db, Tx } from "./tables.js";

export interface Guarded {
  /** The store is alone: there is nothing to ask. */
  readonly none: boolean;
  sender(tx: Tx, sender: string): Promise<void>;
  event(tx: Tx, id: number): Promise<void>;
  route(tx: Tx, route: string): Promise<void>;
  /** Condition on an event of the inbox: its keyspace is not on its way. */
  readonly inPlace: Sql<never>;
}

const nothing = async (): Promise<void> => undefined;

export function guarded(db: Db, keyspaces: KeyspaceGuard | undefined): Guarded {
  const { due, check } = onlyDatabase(db.where);
  if (keyspaces === undefined) {
    const sender = async (tx: Tx): Promise<void> => {
      if (due()) await runAsync(check(db.statements(tx)));
    };
    return { none: true, sender, event: nothing, route: nothing, inPlace: sql`` };
  }
  return {
    none: false,
    sender: (tx, sender) => runAsync(keyspaces.sender(db.statements(tx), sender)),
    event: (tx, id) => runAsync(keyspaces.event(db.statements(tx), id)),
    route: (tx, route) => runAsync(keyspaces.route(db.statements(tx), route)),
    inPlace: sql` and sender not in (
      select s.id from adbind_keyspaces k join adbind_senders s on s.url = k.name
      where k.kind = 'sender' and k.state in ('arriving', 'moving')
    )`,
  };
}
