/** Whether a database that is used as the only one has become one of several meanwhile: its senders may be elsewhere then. */
import type { Coroutine } from "../db/coroutine.js";
import type { Database, Query } from "../db/types.js";
import { AdbindError } from "../errors.js";

/** How long an answer is believed, in milliseconds: the question is a read of a table of one row. */
const BELIEVED_MS = 10_000;

export interface OnlyDatabase {
  /** Is it time to ask again? */
  due(): boolean;
  /** @throws AdbindError `split_invalid` for a database of a split */
  check(query: Query): Coroutine<void>;
}

const partOfSplit = (where: string, remedy: string): AdbindError =>
  new AdbindError("split_invalid", "the database is one of a split, and is used as if it were alone", {
    where,
    remedy,
  });

/**
 * Looks whether a database that a sender or a seller is to use alone is one of several.
 * @throws AdbindError `split_invalid`
 */
export async function refuseSplit(database: Pick<Database, "query" | "where">, kind: "principal"): Promise<void> {
  const text = "select 1 as one from adbind_splits where kind = ?";
  const rows = await database.query((q) => q.rows(text, [kind]));
  if (rows.length === 0) return;
  throw partOfSplit(database.where, "give shardedByPrincipal with all of its databases");
}

/**
 * Refuses several databases where everything has to be in one.
 * @param what who keeps everything there
 * @param where the option that was given
 * @throws AdbindError `split_invalid`
 */
export function refuseSeveral(store: object, what: string, where: string): void {
  if (!("principals" in store)) return;
  throw new AdbindError("split_invalid", `${what}, and is given a split of several`, {
    where,
    remedy: "give it one store, on a database that is no part of a split",
  });
}

export function onlyDatabase(where: string): OnlyDatabase {
  let asked = Number.NEGATIVE_INFINITY;
  return {
    due: () => performance.now() - asked >= BELIEVED_MS,
    *check(q) {
      const [row] = yield* q.rows("select 1 as one from adbind_splits where kind = 'sender'");
      if (row === undefined) {
        asked = performance.now();
        return;
      }
      throw partOfSplit(where, "give the receiver shardedBySender with all of its databases");
    },
  };
}
