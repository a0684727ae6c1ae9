/** Transactions of the application on SQLite: its own handle of better-sqlite3, between its begin and its commit. */
import type { Database } from "better-sqlite3";
import { AdbindError } from "../../errors.js";
import type { Coroutine } from "../coroutine.js";
import { SqliteQuery } from "./query.js";

const isHandle = (tx: unknown): tx is Database =>
  typeof tx === "object" && tx !== null && "prepare" in tx && "inTransaction" in tx && "pragma" in tx;

/** Handles whose file has an outbox: asking each time would cost more than storing an event does. */
const ready = new WeakSet<Database>();

const refused = (what: string, remedy: string): AdbindError =>
  new AdbindError("transaction_invalid", what, { where: "tx", remedy });

/** @throws AdbindError `transaction_invalid` for a handle that would commit each statement alone, or anything else */
// biome-ignore lint/correctness/useYield: a handle tells at once
export function* joined(tx: unknown, statements: (handle: Database) => SqliteQuery): Coroutine<SqliteQuery> {
  if (tx instanceof SqliteQuery) return tx;
  if (!isHandle(tx)) {
    throw refused(
      "a sender on SQLite takes a handle of better-sqlite3",
      "give the handle that the transaction runs on",
    );
  }
  if (!tx.inTransaction) {
    const remedy =
      "call it inside db.transaction(() => ...), or after `begin`; leave tx out for a transaction of its own";
    throw refused("the handle is in no transaction: the event would be stored though the rest is not", remedy);
  }
  if (!ready.has(tx)) {
    if (tx.prepare("select 1 from sqlite_master where name = 'adbind_jobs'").get() === undefined)
      throw refused(
        `the file of this handle (${tx.name}) has no outbox`,
        "open the file that the sender's store is in",
      );
    ready.add(tx);
  }
  return statements(tx);
}
