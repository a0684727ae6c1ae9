/** Whether a database that is used as the only one has become one of several meanwhile: its senders may be elsewhere then. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { AdbindError } from "../errors.js";

/** How long an answer is believed, in milliseconds: the question is a read of a table of one row. */
const BELIEVED_MS = 10_000;

export interface OnlyDatabase {
  /** Is it time to ask again? */
  due(): boolean;
  /** @throws AdbindError `split_invalid` for a database of a split */
  check(query: Query): Coroutine<void>;
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
      throw new AdbindError("split_invalid", "the database is one of a split, and is used as if it were alone", {
        where,
        remedy: "give the receiver shardedBySender with all of its databases",
      });
    },
  };
}
