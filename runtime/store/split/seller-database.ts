/** A seller's tables in several databases: a principal's calls and tasks are in one of them. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Database } from "../../db/types.js";
import { type RowsOf, type SellerDatabase, type SellerTables, sellerTables } from "../seller-tables.js";
import type { PrincipalRouter } from "./principal-part.js";
import { inNoted, noted } from "./transactions.js";

/** Tasks whose principal is remembered: it never changes. */
const KNOWN_TASKS = 50_000;

/** @throws what the databases say, where none can be opened */
export async function splitSellerDatabase<Tx>(router: PrincipalRouter): Promise<SellerDatabase<Tx>> {
  const members = [...router.members.values()];
  const dialect = await Promise.any(members.map((member) => member.use(async (_, database) => database.dialect)));
  // Its statements are run by the database that a transaction is of.
  const tables = sellerTables<Tx>({ dialect, statements: (tx) => noted(tx)!.database.statements(tx) });
  const everywhere = async <T>(work: (tx: Tx) => Coroutine<T>): Promise<T[]> => {
    const all = await Promise.allSettled(
      members.map((member) => member.use((_, database) => within(database as Database<Tx>, work))),
    );
    const failed = all.find((one) => one.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  };
  const ownerOf = taskOwners(router, tables);
  return {
    tables,
    everywhere,
    async transact(of, work) {
      const principal = await ownerOf(of);
      // Nobody has the task: any of them says so.
      if (principal === undefined) return members[0]!.use((_, database) => within(database as Database<Tx>, work));
      return router.at(principal, ({ hold }, given) => {
        const database = given as Database<Tx>;
        return database.write(function* (q, tx) {
          yield* hold(q, principal);
          return yield* inNoted({ database, owner: principal }, tx, work);
        });
      });
    },
  };
}

/** A transaction that is nobody's in particular. */
const within = <Tx, T>(database: Database<Tx>, work: (tx: Tx) => Coroutine<T>): Promise<T> =>
  database.write((_q, tx) => inNoted({ database, owner: undefined }, tx, work));

/** Whose rows are meant; undefined for a task that no database has. */
function taskOwners<Tx>(
  { members }: PrincipalRouter,
  tables: SellerTables<Tx>,
): (of: RowsOf) => Promise<string | undefined> {
  const known = new Map<string, string>();
  return async (of) => {
    if ("principal" in of) return of.principal;
    const { taskId } = of;
    const before = known.get(taskId);
    if (before !== undefined) return before;
    const answers = await Promise.allSettled(
      [...members.values()].map((member) =>
        member.use((_, database) => within(database as Database<Tx>, (tx) => tables.task(tx, taskId))),
      ),
    );
    const rows = answers.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    const failed = answers.find((one) => one.status === "rejected");
    if (rows[0] === undefined && failed !== undefined) throw failed.reason;
    if (rows[0] === undefined) return undefined;
    if (known.size >= KNOWN_TASKS) known.clear();
    known.set(taskId, rows[0].principal);
    return rows[0].principal;
  };
}
