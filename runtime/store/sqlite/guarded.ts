/** What a write asks first where its file is one of several; of a store that is alone, nothing. */
import { type Coroutine, runSync } from "../../db/coroutine.js";
import type { SqliteDatabase } from "../../db/sqlite/open.js";
import type { Query } from "../../db/types.js";
import { onlyDatabase } from "../alone.js";
import type { KeyspaceGuard } from "../guard.js";

/** Writes in a transaction that begins with a check; where that throws, nobody else's writes are undone. */
export interface Guarded {
  /** The store is alone: there is nothing to ask. */
  readonly none: boolean;
  ofSender<T>(sender: string, work: () => T): Promise<T>;
  ofEvent<T>(id: number, work: () => T): Promise<T>;
  ofRoute<T>(route: string, work: () => T): Promise<T>;
  /** Condition on an event of the inbox: its keyspace is not on its way. */
  readonly inPlace: string;
}

export function guarded(database: SqliteDatabase, keyspaces: KeyspaceGuard | undefined): Guarded {
  const { file, writer } = database;
  const after = <T>(check: (query: Query) => Coroutine<void>, work: () => T): Promise<T> =>
    writer.guarded(() => {
      runSync(check(database.statements(file)));
      return work();
    });
  if (keyspaces === undefined) {
    const { due, check } = onlyDatabase(database.where);
    const write = <T>(_of: unknown, work: () => T): Promise<T> => writer.write(work);
    const ofSender = <T>(_of: string, work: () => T): Promise<T> => (due() ? after(check, work) : writer.write(work));
    return { none: true, ofSender, ofEvent: write, ofRoute: write, inPlace: "" };
  }
  return {
    none: false,
    ofSender: (sender, work) => after((q) => keyspaces.sender(q, sender), work),
    ofEvent: (id, work) => after((q) => keyspaces.event(q, id), work),
    ofRoute: (route, work) => after((q) => keyspaces.route(q, route), work),
    inPlace:
      " and sender not in (select s.id from adbind_keyspaces k join adbind_senders s on s.url = k.name " +
      "where k.kind = 'sender' and k.state in ('arriving', 'moving'))",
  };
}
