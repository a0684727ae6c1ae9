/** Dedup claims: (sender, idempotency_key) for at least a day, at most so many per sender. */
import type { Database } from "better-sqlite3";
import { claimKey } from "../keys.js";
import type { Arrival } from "../types.js";

export type ClaimResult = "fresh" | "full" | { readonly duplicate: true; readonly changed: boolean };

export interface Claims {
  /** Inside the caller's transaction. */
  claim(sender: number, arrival: Arrival): ClaimResult;
  live(sender: number): number;
  /** Removes expired claims, oldest first; answers how many. */
  expire(now: number, limit: number): number;
}

export function sqliteClaims(db: Database): Claims {
  const select = db.prepare<[number, Uint8Array], { digest: Buffer; expires: number }>(
    "select digest, expires from adbind_claims where sender = ? and key = ?",
  );
  const insert = db.prepare("insert into adbind_claims (sender, key, digest, expires) values (?, ?, ?, ?)");
  const renew = db.prepare("update adbind_claims set digest = ?, expires = ? where sender = ? and key = ?");
  const count = db.prepare("update adbind_senders set live = live + 1 where id = ? and live < ?");
  const uncount = db.prepare("update adbind_senders set live = live - ? where id = ?");
  const live = db.prepare<[number], { live: number }>("select live from adbind_senders where id = ?");
  const oldest = db.prepare<[number, number], { sender: number; key: Buffer }>(
    "select sender, key from adbind_claims where expires <= ? order by expires limit ?",
  );
  const remove = db.prepare("delete from adbind_claims where sender = ? and key = ?");

  const expire = (now: number, limit: number): number => {
    const rows = oldest.all(now, limit);
    const perSender = new Map<number, number>();
    for (const { sender, key } of rows) {
      remove.run(sender, key);
      perSender.set(sender, (perSender.get(sender) ?? 0) + 1);
    }
    for (const [sender, removed] of perSender) uncount.run(removed, sender);
    return rows.length;
  };

  /** Counts one more; at the bound, what has expired and was not swept yet makes room first. */
  const admit = (sender: number, cap: number, now: number): boolean => {
    if (count.run(sender, cap).changes === 1) return true;
    return expire(now, FULL_SWEEP_ROWS) > 0 && count.run(sender, cap).changes === 1;
  };

  return {
    claim(sender, { event, digest, now, windowSeconds, senderCap }) {
      const key = claimKey(event.key);
      const expires = now + windowSeconds * 1000;
      const found = select.get(sender, key);
      if (found !== undefined && found.expires > now) {
        return { duplicate: true, changed: Buffer.compare(found.digest, digest) !== 0 };
      }
      if (found !== undefined) {
        renew.run(digest, expires, sender, key);
        return "fresh";
      }
      if (!admit(sender, senderCap, now)) return "full";
      insert.run(sender, key, digest, expires);
      return "fresh";
    },
    live: (sender) => live.get(sender)?.live ?? 0,
    expire,
  };
}

/** Expired claims looked at when a sender is full: a bounded pause, and the regular sweep does the rest. */
const FULL_SWEEP_ROWS = 2000;
