/** Which database a transaction is of, and who is held in it, for parts that are only given the transaction. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Database } from "../../db/types.js";

export interface NotedTransaction<Tx> {
  readonly database: Database<Tx>;
  /** Whose rows it may write; undefined where it is nobody's in particular. */
  readonly owner: string | undefined;
}

/** SQLite has one handle for all: its transactions begin and end without a turn between them, so that the last note is right. */
const transactions = new WeakMap<object, NotedTransaction<never>>();

const note = <Tx>(database: Database<Tx>, tx: Tx, owner: string | undefined): void =>
  void transactions.set(tx as object, { database, owner } as unknown as NotedTransaction<never>);

/** Does work in a transaction that is noted for as long. @param owner who is held in it */
export function* inNoted<Tx, T>(
  { database, owner }: NotedTransaction<Tx>,
  tx: Tx,
  work: (tx: Tx) => Coroutine<T>,
): Coroutine<T> {
  note(database, tx, owner);
  try {
    return yield* work(tx);
  } finally {
    // A connection is used again, for somebody else.
    note(database, tx, undefined);
  }
}

/** @returns undefined for a transaction that nobody here has begun */
export const noted = <Tx>(tx: Tx): NotedTransaction<Tx> | undefined =>
  transactions.get(tx as object) as unknown as NotedTransaction<Tx> | undefined;
