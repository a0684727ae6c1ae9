/** Dedup claims: (sender, idempotency_key) for at least a day, at most so many per sender. */
import type { Database } from "better-sqlite3";
import type { Writer } from "../../db/sqlite/writer.js";
import { claimDigest } from "../keys.js";
import type { Arrival } from "../types.js";
import type { ExpiryTime } from "./clock.js";
import { sqliteCounters } from "./counters.js";

/** Expired claims looked at when a sender is full: a bounded pause, and the regular sweep does the rest. */
const FULL_SWEEP_ROWS = 2000;

export type ClaimResult = "fresh" | "full" | { readonly duplicate: true; readonly changed: boolean };

/** Every function but `live` runs inside the caller's transaction. */
export interface Claims {
  claim(sender: number, arrival: Arrival): ClaimResult;
  live(sender: number): number;
  /** Removes expired claims, oldest first; answers how many. */
  expire(now: number, limit: number): number;
}

const statementsOf = (db: Database) => ({
  select: db.prepare<[number, Uint8Array], { digest: Buffer; expires: number }>(
    "select digest, expires from adbind_claims where sender = ? and key = ?",
  ),
  insert: db.prepare(
    "insert into adbind_claims (sender, key, digest, expires) values (?, ?, ?, ?) on conflict do nothing",
  ),
  renew: db.prepare("update adbind_claims set digest = ?, expires = ? where sender = ? and key = ?"),
  live: db.prepare<[number], { live: number }>("select live from adbind_senders where id = ?"),
  oldest: db.prepare<[number, number], { sender: number; key: Buffer }>(
    "select sender, key from adbind_claims where expires <= ? order by expires limit ?",
  ),
  remove: db.prepare("delete from adbind_claims where sender = ? and key = ?"),
});

export function sqliteClaims(writer: Writer, time: ExpiryTime): Claims {
  const { db } = writer;
  const counters = sqliteCounters(writer, "adbind_senders");
  const { select, insert, renew, live, oldest, remove } = statementsOf(db);

  const expire = (now: number, limit: number): number => {
    const rows = oldest.all(now, limit);
    for (const { sender, key } of rows) {
      remove.run(sender, key);
      counters.add(sender, -1);
    }
    return rows.length;
  };

  /** What is known of a key that is there already. */
  const again = (
    sender: number,
    key: Uint8Array,
    { digest, now }: Arrival,
    expires: number,
  ): ClaimResult | undefined => {
    const found = select.get(sender, key);
    if (found === undefined) return undefined;
    if (found.expires > time(now)) return { duplicate: true, changed: Buffer.compare(found.digest, digest) !== 0 };
    renew.run(digest, expires, sender, key);
    return "fresh";
  };

  /** At the bound, what has expired and was not swept yet makes room first. */
  const full = (sender: number, cap: number, now: number): boolean =>
    counters.live(sender) >= cap && (expire(time(now), FULL_SWEEP_ROWS) === 0 || counters.live(sender) >= cap);

  return {
    claim(sender, arrival) {
      const { event, digest, now, windowSeconds, senderCap } = arrival;
      const key = claimDigest(event.key);
      const expires = now + windowSeconds * 1000;
      if (counters.live(sender) >= senderCap) {
        const known = again(sender, key, arrival, expires);
        if (known !== undefined) return known;
        if (full(sender, senderCap, now)) return "full";
      }
      if (insert.run(sender, key, digest, expires).changes === 0) return again(sender, key, arrival, expires)!;
      counters.add(sender, 1);
      return "fresh";
    },
    live: (sender) => live.get(sender)?.live ?? 0,
    expire,
  };
}
