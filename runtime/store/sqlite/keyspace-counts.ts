/** Counts of a keyspace's claims and nonces: beside their numbers, and of all nonces together. */
import type { KeyspaceCounts } from "../keyspace-counts.js";

export const sqliteCounts: KeyspaceCounts = {
  // biome-ignore lint/correctness/useYield: nothing is to be asked
  *sharded() {
    return false;
  },
  *recount(q, { sender, nonceKeys }) {
    yield* q.run(
      "update adbind_senders set live = (select count(*) from adbind_claims c where c.sender = adbind_senders.id) where id = ?",
      [sender],
    );
    for (const key of nonceKeys) {
      const [found] = yield* q.rows<{ live: number; n: number }>(
        "select live, (select count(*) from adbind_nonces n where n.key = k.id) as n from adbind_nonce_keys k where id = ?",
        [key],
      );
      const { live, n } = found!;
      yield* q.run("update adbind_nonce_keys set live = ? where id = ?", [n, key]);
      yield* q.run("update adbind_nonce_keys set live = live + ? where id = 0", [n - live]);
    }
  },
};
