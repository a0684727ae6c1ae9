/** Statements in whichever transaction is given with each. */
import type { Coroutine } from "../db/coroutine.js";
import type { Database, Value } from "../db/types.js";

/** Runs one statement in a transaction and answers its rows. */
export type Runner<Tx> = <Row>(tx: Tx, text: string, values: readonly Value[]) => Coroutine<Row[]>;

export const runner =
  <Tx>(database: Pick<Database<Tx>, "statements">): Runner<Tx> =>
  (tx, text, values) =>
    database.statements(tx).rows(text, values);
