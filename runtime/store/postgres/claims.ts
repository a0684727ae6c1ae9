/** Dedup claims: (sender, idempotency_key) for at least a day, at most so many per sender. */
import { sql } from "kysely";
import { claimKey } from "../keys.js";
import type { Arrival } from "../types.js";
import { type Db, shardOf, type Tx } from "./tables.js";

export type ClaimResult = "fresh" | "renewed" | { readonly duplicate: true; readonly changed: boolean };

/** Claims the key; a claim another transaction is about to make is waited for. */
export async function claim(tx: Tx, sender: number, arrival: Arrival): Promise<ClaimResult> {
  const { event, digest, now, windowSeconds } = arrival;
  const key = claimKey(event.key);
  const expires = now + windowSeconds * 1000;
  const inserted = await tx
    .insertInto("adbind_claims")
    .values({ sender, key, digest, expires })
    .onConflict((on) =>
      on.columns(["sender", "key"]).doUpdateSet({ digest, expires }).where("adbind_claims.expires", "<=", now),
    )
    // A row that was inserted and not updated has no deleting transaction.
    .returning(sql<boolean>`xmax = 0`.as("fresh"))
    .executeTakeFirst();
  if (inserted !== undefined) return inserted.fresh ? "fresh" : "renewed";
  const found = await tx
    .selectFrom("adbind_claims")
    .select("digest")
    .where("sender", "=", sender)
    .where("key", "=", key)
    .executeTakeFirst();
  return { duplicate: true, changed: found !== undefined && Buffer.compare(found.digest, digest) !== 0 };
}

/** Counts one more under the cap, or answers false. The last statement of its transaction: its row is contended. */
export async function countClaim(tx: Tx, sender: number, arrival: Arrival): Promise<boolean> {
  const { shard, cap } = shardOf(claimKey(arrival.event.key), arrival.senderCap);
  const counted = await tx
    .insertInto("adbind_sender_usage")
    .values({ sender, shard, live: 1 })
    .onConflict((on) =>
      on
        .columns(["sender", "shard"])
        .doUpdateSet({ live: sql<number>`adbind_sender_usage.live + 1` })
        .where("adbind_sender_usage.live", "<", cap),
    )
    .returning("live")
    .executeTakeFirst();
  return counted !== undefined && counted.live <= cap;
}

export async function liveClaims(db: Db, sender: number): Promise<number> {
  const row = await db
    .selectFrom("adbind_sender_usage")
    .select(sql<number>`coalesce(sum(live), 0)::bigint`.as("live"))
    .where("sender", "=", sender)
    .executeTakeFirstOrThrow();
  return row.live;
}

/** Removes expired claims, oldest first. Rows another instance is removing are left to it. */
export async function expireClaims(db: Db, now: number, limit: number): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ sender: number; first: number }>`
      delete from adbind_claims where (sender, key) in (
        select sender, key from adbind_claims where expires <= ${now} order by expires limit ${limit}
        for update skip locked
      ) returning sender, get_byte(key, 0) as first`.execute(tx);
    await uncount(tx, rows);
    return rows.length;
  });
}

async function uncount(tx: Tx, rows: readonly { sender: number; first: number }[]): Promise<void> {
  const senders = [...new Set(rows.map((row) => row.sender))].sort((a, b) => a - b);
  for (const sender of senders) {
    const shards = await tx
      .selectFrom("adbind_sender_usage")
      .select(["shard", "live"])
      .where("sender", "=", sender)
      .orderBy("shard")
      .forUpdate()
      .execute();
    const removed = rows.filter((row) => row.sender === sender);
    for (const { shard, live } of takeFrom(
      shards,
      removed.map((row) => row.first),
    )) {
      await tx
        .updateTable("adbind_sender_usage")
        .set({ live })
        .where("sender", "=", sender)
        .where("shard", "=", shard)
        .execute();
    }
  }
}

/**
 * Takes removals off the shards they were counted in. A cap that was changed from unsharded to sharded leaves counts in
 * shard 0, so what a shard does not have comes off another.
 */
export function takeFrom(
  shards: readonly { shard: number; live: number }[],
  firstBytes: readonly number[],
): { shard: number; live: number }[] {
  const live = new Map(shards.map((row) => [row.shard, row.live]));
  const changed = new Set<number>();
  for (const first of firstBytes) {
    const own = first % 16;
    const from = (live.get(own) ?? 0) > 0 ? own : [...live.keys()].find((shard) => live.get(shard)! > 0);
    if (from === undefined) continue;
    live.set(from, live.get(from)! - 1);
    changed.add(from);
  }
  return [...changed].map((shard) => ({ shard, live: live.get(shard)! }));
}
