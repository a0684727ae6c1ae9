/** Transactions of the application on SQLite: its own handle of better-sqlite3, between its begin and its commit. */
import { statSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { AdbindError } from "../../errors.js";
import type { Coroutine } from "../coroutine.js";
import { SqliteQuery } from "./query.js";

const isHandle = (tx: unknown): tx is Database =>
  typeof tx === "object" && tx !== null && "prepare" in tx && "inTransaction" in tx && "pragma" in tx;

/** Of each handle of ours, those on the same file: asking each time would cost more than storing an event does. */
const beside = new WeakMap<Database, WeakSet<Database>>();

const OPEN_OURS = "open the file that adbind's store is in";

const refused = (what: string, remedy: string): AdbindError =>
  new AdbindError("transaction_invalid", what, { where: "tx", remedy });

/** The file a handle writes to, as SQLite has resolved it; empty where it is in memory. */
const fileOf = (handle: Database): string =>
  (handle.pragma("database_list") as { name: string; file: string }[]).find(({ name }) => name === "main")?.file ?? "";

/** One file has many names: links, mounts, the letters' case on some systems. */
function isSameFile(one: string, other: string): boolean {
  if (one === other || one === "" || other === "") return one === other && one !== "";
  try {
    const [first, second] = [one, other].map((file) => statSync(file, { bigint: true }));
    return first!.dev === second!.dev && first!.ino === second!.ino;
  } catch {
    // Of what cannot be looked at nobody can say that it is the store's.
    return false;
  }
}

function refuseElsewhere({ own, anywhere }: JoinPlace, tx: Database): void {
  if (tx.prepare("select 1 from sqlite_master where name = 'adbind_jobs'").get() === undefined)
    throw refused(`the file of this handle (${tx.name}) has no outbox`, OPEN_OURS);
  const [ours, theirs] = [fileOf(own), fileOf(tx)];
  if (anywhere || isSameFile(ours, theirs)) return;
  const where = theirs === "" ? "in memory" : `on ${theirs}`;
  throw refused(`the handle is ${where}, and adbind's store is ${ours}: what is stored would be lost to it`, OPEN_OURS);
}

/** Where a transaction may be: in the file of `own`, or in another one of a split, whose own file is asked for then. */
export interface JoinPlace {
  readonly own: Database;
  readonly anywhere: boolean;
}

/** @throws AdbindError `transaction_invalid` for a handle that would commit each statement alone, on another file, or anything else */
// biome-ignore lint/correctness/useYield: a handle tells at once
export function* joined(
  tx: unknown,
  statements: (handle: Database) => SqliteQuery,
  place: JoinPlace,
): Coroutine<SqliteQuery> {
  if (tx instanceof SqliteQuery) return tx;
  if (!isHandle(tx)) {
    throw refused("a store on SQLite takes a handle of better-sqlite3", "give the handle that the transaction runs on");
  }
  if (!tx.inTransaction) {
    const remedy =
      "call it inside db.transaction(() => ...), or after `begin`; leave tx out for a transaction of its own";
    throw refused("the handle is in no transaction: it would be stored though the rest is not", remedy);
  }
  if (tx === place.own) return statements(tx);
  if (tx.readonly) throw refused("the handle was opened for reading only", "open the file without `readonly`");
  const known = beside.get(place.own) ?? new WeakSet();
  beside.set(place.own, known);
  if (known.has(tx)) return statements(tx);
  refuseElsewhere(place, tx);
  if (!place.anywhere) known.add(tx);
  return statements(tx);
}
