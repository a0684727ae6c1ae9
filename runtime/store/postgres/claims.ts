/** Dedup claims: (sender, idempotency_key) for at least a day, at most so many per sender. */
import { type Sql, sql } from "../../db/postgres/sql.js";
import { claimDigest } from "../keys.js";
import type { Arrival } from "../types.js";
import { uncount } from "./counters.js";
import { type Db, shardOf, type Tx } from "./tables.js";

/** Counts one more of what is capped: no row where there is no room. */
export type Counting = Sql<{ live: number }>;

export type ClaimResult = "fresh" | "renewed" | { readonly duplicate: true; readonly changed: boolean };

/** Claims the key; a claim another transaction is about to make is waited for. */
export async function claim(
  tx: Tx,
  sender: number,
  arrival: Arrival & { readonly expiredAt: number },
): Promise<ClaimResult> {
  const { event, digest, now, windowSeconds, expiredAt } = arrival;
  const key = claimDigest(event.key);
  const expires = now + windowSeconds * 1000;
  const inserted = await sql<{ fresh: boolean }>`
    insert into adbind_claims (sender, key, digest, expires) values (${sender}, ${key}, ${digest}, ${expires})
    on conflict (sender, key) do update set digest = excluded.digest, expires = excluded.expires
    where adbind_claims.expires <= ${expiredAt}
    returning xmax = 0 as fresh`.first(tx);
  // A row that was inserted and not updated has no deleting transaction.
  if (inserted !== undefined) return inserted.fresh ? "fresh" : "renewed";
  const found = await sql<{ digest: Buffer }>`
    select digest from adbind_claims where sender = ${sender} and key = ${key}`.first(tx);
  return { duplicate: true, changed: found !== undefined && Buffer.compare(found.digest, digest) !== 0 };
}

/** Counts one more under the cap: no row where that is reached. The last statement of its transaction: its row is contended. */
export function countClaim(sender: number, arrival: Arrival): Counting {
  const { shard, cap } = shardOf(claimDigest(arrival.event.key), arrival.senderCap);
  // What is inserted is the first of its shard, which a cap of nothing refuses too.
  return sql`
    insert into adbind_sender_usage (sender, shard, live) select ${sender}::bigint, ${shard}::integer, 1 where ${cap} > 0
    on conflict (sender, shard) do update set live = adbind_sender_usage.live + 1
    where adbind_sender_usage.live < ${cap}
    returning live`;
}

export async function liveClaims(db: Db, sender: number): Promise<number> {
  const row = await sql<{ live: number }>`
    select coalesce(sum(live), 0)::bigint as live from adbind_sender_usage where sender = ${sender}`.first(db);
  return row!.live;
}

/** Removes expired claims, oldest first. Rows another instance is removing are left to it. */
export async function expireClaims(db: Db, now: number, limit: number): Promise<number> {
  return db.transaction(async (tx) => {
    await sql`set local synchronous_commit = off`.run(tx);
    const rows = await sql<{ of: number; first: number }>`
      delete from adbind_claims where ctid = any(array(
        select ctid from adbind_claims where expires <= ${now} order by expires limit ${limit} for update skip locked
      )) returning sender as of, get_byte(key, 0) as first`.rows(tx);
    await uncount(tx, "sender", rows);
    return rows.length;
  });
}
