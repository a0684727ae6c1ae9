/** Nonces of verified signatures: bounded per key and in all, never evicted to make room (webhooks-facts.md 1.8). */
import type { Database } from "better-sqlite3";
import type { ReplayStore } from "../../signing/types.js";
import { nonceKey } from "../keys.js";
import type { ReplayOptions } from "../types.js";
import type { Writer } from "./writer.js";

/** Live nonces of one key: what a sender at 300 a second keeps for its five minutes. */
const KEY_CAP = 100_000;
/** Live nonces of all keys: about a gigabyte on disk. */
const TOTAL_CAP = 10_000_000;
// A nonce lives through the second it expires at: its signature is still accepted then.
/** The row that counts all keys. */
const TOTAL_ID = 0;
/** Expired nonces looked at when a bound is reached. */
const FULL_SWEEP_ROWS = 2000;

export interface Nonces {
  expire(nowMs: number, limit: number): number;
  replay(options: ReplayOptions): ReplayStore;
}

export function sqliteNonces(db: Database, writer: Writer): Nonces {
  const keyOf = db.prepare<[string], { id: number; live: number }>(
    "select id, live from adbind_nonce_keys where keyid = ?",
  );
  const addKey = db.prepare<[string], { id: number }>("insert into adbind_nonce_keys (keyid) values (?) returning id");
  const liveOf = db.prepare<[number], { live: number }>("select live from adbind_nonce_keys where id = ?");
  const count = db.prepare("update adbind_nonce_keys set live = live + ? where id = ?");
  const select = db.prepare<[number, string], { expires: number }>(
    "select expires from adbind_nonces where key = ? and nonce = ?",
  );
  const insert = db.prepare("insert into adbind_nonces (key, nonce, expires) values (?, ?, ?)");
  const renew = db.prepare("update adbind_nonces set expires = ? where key = ? and nonce = ?");
  const oldest = db.prepare<[number, number], { key: number; nonce: string }>(
    "select key, nonce from adbind_nonces where expires < ? order by expires limit ?",
  );
  const remove = db.prepare("delete from adbind_nonces where key = ? and nonce = ?");

  const expireAt = (nowSeconds: number, limit: number): number => {
    const rows = oldest.all(nowSeconds, limit);
    const perKey = new Map<number, number>();
    for (const { key, nonce } of rows) {
      remove.run(key, nonce);
      perKey.set(key, (perKey.get(key) ?? 0) + 1);
    }
    for (const [key, removed] of perKey) count.run(-removed, key);
    if (rows.length > 0) count.run(-rows.length, TOTAL_ID);
    return rows.length;
  };

  const full = (key: number, keyCap: number, totalCap: number): boolean =>
    liveOf.get(key)!.live >= keyCap || liveOf.get(TOTAL_ID)!.live >= totalCap;

  const replay = ({ keyCap = KEY_CAP, totalCap = TOTAL_CAP }: ReplayOptions): ReplayStore => {
    const put = (keyid: string, nonce: string, expiresAt: number, now: number): "inserted" | "seen" | "full" => {
      const key = keyOf.get(keyid)?.id ?? addKey.get(keyid)!.id;
      const name = nonceKey(nonce);
      const found = select.get(key, name);
      if (found !== undefined && found.expires >= now) return "seen";
      if (found !== undefined) {
        renew.run(expiresAt, key, name);
        return "inserted";
      }
      if (full(key, keyCap, totalCap)) {
        expireAt(now, FULL_SWEEP_ROWS);
        if (full(key, keyCap, totalCap)) return "full";
      }
      insert.run(key, name, expiresAt);
      count.run(1, key);
      count.run(1, TOTAL_ID);
      return "inserted";
    };
    return {
      atCap: (keyid, now) => {
        const row = keyOf.get(keyid);
        if (row === undefined || row.live < keyCap) return false;
        // Rare, and worth a look at what has expired: the key is refused otherwise until the next sweep.
        return writer.write(() => {
          expireAt(now, FULL_SWEEP_ROWS);
          return liveOf.get(row.id)!.live >= keyCap;
        });
      },
      insert: (keyid, nonce, expiresAt, now) => writer.write(() => put(keyid, nonce, expiresAt, now)),
    };
  };

  return { replay, expire: (nowMs, limit) => expireAt(Math.floor(nowMs / 1000), limit) };
}
