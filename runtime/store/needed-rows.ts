/** Rows of a sender that work needs, taken without waiting: whoever meets one that is held elsewhere can do so beside others. */
import type { Coroutine } from "../db/coroutine.js";
import type { Dialect, Query, Value } from "../db/types.js";
import type { ChannelKey } from "./sender-rows.js";

/** What work is about to change; those that are not there yet are nobody's. */
export interface NeededRows {
  readonly channels?: readonly ChannelKey[];
  /** Ids. */
  readonly tasks?: readonly string[];
}

export interface NeededRowsTables {
  /**
   * Locks those of some rows that there are, and waits for none of them. False where another transaction holds one: the others
   * may be locked then.
   */
  takeFree(tx: Query, rows: NeededRows): Coroutine<boolean>;
}

export function neededRowsTables({ forUpdateFree }: Pick<Dialect, "forUpdateFree">): NeededRowsTables {
  // Rows that are there and cannot be had are somebody else's.
  function* free(tx: Query, table: string, where: string, values: readonly Value[]): Coroutine<boolean> {
    const [row] = yield* tx.rows<{ free: boolean | number }>(
      `with mine as (select 1 from ${table} where ${where}${forUpdateFree})
        select (select count(*) from mine) = (select count(*) from ${table} where ${where}) as free`,
      [...values, ...values],
    );
    return Boolean(row!.free);
  }
  return {
    *takeFree(tx, { channels = [], tasks = [] }) {
      const keys = channels.flatMap(({ resource, kind, subscriber }) => [resource, kind, subscriber]);
      const named = channels.map(() => "(?, ?, ?)").join(", ");
      const where = `(resource, kind, subscriber) in (values ${named})`;
      if (channels.length > 0 && !(yield* free(tx, "adbind_channels", where, keys))) return false;
      const ids = `task_id in (${tasks.map(() => "?").join(", ")})`;
      return tasks.length === 0 || (yield* free(tx, "adbind_sent_tasks", ids, tasks));
    },
  };
}
