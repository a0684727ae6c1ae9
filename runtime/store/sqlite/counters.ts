/**
 * Counters of live rows, read once and written once a transaction, however many rows it adds. Between transactions the
 * database alone knows: another process may have changed them.
 */
import type { Writer } from "../../db/sqlite/writer.js";

export interface Counters {
  /** Inside a transaction. */
  live(id: number): number;
  /** Inside a transaction. */
  add(id: number, by: number): void;
}

interface Count {
  live: number;
  changed: boolean;
}

/** Counters in the `live` column of `table`. */
export function sqliteCounters(writer: Writer, table: "adbind_senders" | "adbind_nonce_keys"): Counters {
  const read = writer.db.prepare<[number], { live: number }>(`select live from ${table} where id = ?`);
  const write = writer.db.prepare(`update ${table} set live = ? where id = ?`);
  const counts = new Map<number, Count>();
  writer.onCommit(() => {
    for (const [id, { live, changed }] of counts) if (changed) write.run(live, id);
    counts.clear();
  });
  writer.onRollback(() => counts.clear());
  const count = (id: number): Count => {
    const known = counts.get(id);
    if (known !== undefined) return known;
    const fresh = { live: read.get(id)?.live ?? 0, changed: false };
    counts.set(id, fresh);
    return fresh;
  };
  return {
    live: (id) => count(id).live,
    add(id, by) {
      const held = count(id);
      held.live += by;
      held.changed = true;
    },
  };
}
