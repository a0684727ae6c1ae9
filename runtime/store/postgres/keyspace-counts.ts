/** Counts of a keyspace's claims and nonces: rows of their own, in shards where a cap is large. */
import type { KeyspaceCounts } from "../keyspace-counts.js";
import { SHARDS } from "./tables.js";

export const postgresCounts: KeyspaceCounts = {
  *sharded(q, sender) {
    const [row] = yield* q.rows("select 1 as one from adbind_sender_usage where sender = ? and shard > 0 limit 1", [
      sender,
    ]);
    return row !== undefined;
  },
  *recount(q, { sender, nonceKeys }, sharded) {
    const shardOf = (byte: string): string => (sharded ? `${byte} % ${SHARDS}` : "0");
    // The rows of counts first: who expires rows of the keyspace meanwhile waits, and takes his off the new ones.
    yield* q.run("delete from adbind_sender_usage where sender = ?", [sender]);
    yield* q.run(
      `insert into adbind_sender_usage (sender, shard, live) select sender, ${shardOf("get_byte(key, 0)")}, count(*) ` +
        "from adbind_claims where sender = ? group by 1, 2",
      [sender],
    );
    for (const key of nonceKeys) {
      yield* q.run("delete from adbind_nonce_usage where key = ?", [key]);
      yield* q.run(
        "insert into adbind_nonce_usage (key, shard, live) " +
          `select key, get_byte(sha256(convert_to(nonce, 'UTF8')), 0) % ${SHARDS}, count(*) ` +
          "from adbind_nonces where key = ? group by 1, 2",
        [key],
      );
    }
  },
};
