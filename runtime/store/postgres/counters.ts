/** Counters of live rows, spread over shards: how what is removed comes off them. */
import { sql } from "../../db/postgres/sql.js";
import { SHARDS, type Tx } from "./tables.js";

/** A row that is gone: what it was counted for, and the byte that says in which shard. */
interface Removed {
  readonly of: number;
  readonly first: number;
}

interface Shard {
  readonly of: number;
  readonly shard: number;
  readonly live: number;
}

const counters = {
  sender: {
    lock: (ids: readonly number[]) => sql<Shard>`
      select sender as of, shard, live from adbind_sender_usage where sender = any(${ids}::bigint[])
      order by sender, shard for update`,
    write: (rows: readonly Shard[]) => sql`
      update adbind_sender_usage u set live = g.live from ${given(rows)} where u.sender = g.counter and u.shard = g.shard`,
  },
  key: {
    lock: (ids: readonly number[]) => sql<Shard>`
      select key as of, shard, live from adbind_nonce_usage where key = any(${ids}::bigint[])
      order by key, shard for update`,
    write: (rows: readonly Shard[]) => sql`
      update adbind_nonce_usage u set live = g.live from ${given(rows)} where u.key = g.counter and u.shard = g.shard`,
  },
};

const given = (rows: readonly Shard[]) => sql`
  unnest(${rows.map(({ of }) => of)}::bigint[], ${rows.map(({ shard }) => shard)}::integer[],
    ${rows.map(({ live }) => live)}::bigint[]) as g (counter, shard, live)`;

/**
 * Takes removals off their counters, last in a transaction: whoever accepts an event waits for these rows until that has ended,
 * so that they are held for two statements, however many they are.
 */
export async function uncount(tx: Tx, counted: keyof typeof counters, removed: readonly Removed[]): Promise<void> {
  if (removed.length === 0) return;
  const { lock, write } = counters[counted];
  const shards = await lock([...new Set(removed.map(({ of }) => of))])
    .kept()
    .rows(tx);
  const changed = takeFrom(shards, removed);
  if (changed.length > 0) await write(changed).kept().run(tx);
}

/**
 * Takes removals off the shards they were counted in. A cap that was changed from unsharded to sharded leaves counts in
 * shard 0, so what a shard does not have comes off another.
 */
function takeFrom(shards: readonly Shard[], removed: readonly Removed[]): Shard[] {
  const live = new Map(shards.map((row) => [row, row.live]));
  const has = (row: Shard | undefined): row is Shard => row !== undefined && live.get(row)! > 0;
  const ofCounter = Map.groupBy(shards, ({ of }) => of);
  for (const { of, first } of removed) {
    const all = ofCounter.get(of) ?? [];
    const own = all.find(({ shard }) => shard === first % SHARDS);
    const from = has(own) ? own : all.find(has);
    if (from !== undefined) live.set(from, live.get(from)! - 1);
  }
  return [...live].filter(([row, left]) => left !== row.live).map(([row, left]) => ({ ...row, live: left }));
}
