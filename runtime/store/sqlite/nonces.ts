/** Nonces of verified signatures: bounded per key and in all, never evicted to make room (docs/protocol/signing.md#replay). */
import type { Database } from "better-sqlite3";
import type { ReplayStore } from "../../contract/replay-store.js";
import type { Writer } from "../../db/sqlite/writer.js";
import { nonceKey, senderOfKeyid } from "../keys.js";
import type { NonceUse, ReplayOptions } from "../types.js";
import type { ExpiryTime } from "./clock.js";
import { sqliteCounters } from "./counters.js";
import type { Guarded } from "./guarded.js";

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
  /** Inside the caller's transaction, under the default caps. */
  use(nonce: NonceUse): "inserted" | "seen" | "full";
  /** Undoes `use` in the same transaction: what came with it is refused, and may come again as it is. */
  giveBack(nonce: NonceUse): void;
}

/** What time it is for nonces that expire, in unix seconds. */
const secondsOf = (time: ExpiryTime, now: number): number => Math.floor(time(now * 1000) / 1000);

/** Writes of a key, after the check of whose it is. */
const guarding =
  ({ ofSender }: Guarded) =>
  <T>(keyid: string, work: () => T): Promise<T> =>
    ofSender(senderOfKeyid(keyid), work);

const statementsOf = (db: Database) => ({
  keyOf: db.prepare<[string], { id: number; live: number }>("select id, live from adbind_nonce_keys where keyid = ?"),
  addKey: db.prepare<[string], { id: number }>("insert into adbind_nonce_keys (keyid) values (?) returning id"),
  select: db.prepare<[number, string], { expires: number }>(
    "select expires from adbind_nonces where key = ? and nonce = ?",
  ),
  insert: db.prepare("insert into adbind_nonces (key, nonce, expires) values (?, ?, ?) on conflict do nothing"),
  renew: db.prepare("update adbind_nonces set expires = ? where key = ? and nonce = ?"),
  oldest: db.prepare<[number, number], { key: number; nonce: string }>(
    "select key, nonce from adbind_nonces where expires < ? order by expires limit ?",
  ),
  remove: db.prepare("delete from adbind_nonces where key = ? and nonce = ?"),
});

/** Rows of nonces and their counts; every function runs inside the caller's transaction. */
function nonceRows(writer: Writer) {
  const counters = sqliteCounters(writer, "adbind_nonce_keys");
  const { keyOf, addKey, select, insert, renew, oldest, remove } = statementsOf(writer.db);
  const ids = new Map<string, number>();
  writer.onRollback(() => ids.clear());

  const idOf = (keyid: string): number => {
    const known = ids.get(keyid);
    if (known !== undefined) return known;
    const id = keyOf.get(keyid)?.id ?? addKey.get(keyid)!.id;
    ids.set(keyid, id);
    return id;
  };

  const add = (key: number, by: number): void => {
    counters.add(key, by);
    counters.add(TOTAL_ID, by);
  };

  const expireAt = (nowSeconds: number, limit: number): number => {
    const rows = oldest.all(nowSeconds, limit);
    for (const { key, nonce } of rows) {
      remove.run(key, nonce);
      add(key, -1);
    }
    return rows.length;
  };

  const again = (key: number, nonce: string, expiresAt: number, now: number): "inserted" | "seen" | undefined => {
    const found = select.get(key, nonce);
    if (found === undefined) return undefined;
    if (found.expires >= now) return "seen";
    renew.run(expiresAt, key, nonce);
    return "inserted";
  };

  const giveBack = ({ keyid, nonce }: NonceUse): void => {
    const key = idOf(keyid);
    if (remove.run(key, nonceKey(nonce)).changes === 1) add(key, -1);
  };

  return { counters, keyOf, insert, idOf, add, expireAt, again, giveBack };
}

export function sqliteNonces(writer: Writer, time: ExpiryTime, guard: Guarded): Nonces {
  const ofKey = guarding(guard);
  const { counters, keyOf, insert, idOf, add, expireAt, again, giveBack } = nonceRows(writer);
  /** Live nonces of a key when this process last added one: says cheaply that its cap is far. */
  const last = new Map<string, number>();

  const inserter = ({ keyCap = KEY_CAP, totalCap = TOTAL_CAP }: ReplayOptions) => {
    const full = (key: number): boolean => counters.live(key) >= keyCap || counters.live(TOTAL_ID) >= totalCap;
    return ({ keyid, nonce, expiresAt, now }: NonceUse): "inserted" | "seen" | "full" => {
      const key = idOf(keyid);
      const name = nonceKey(nonce);
      if (full(key)) {
        const known = again(key, name, expiresAt, now);
        if (known !== undefined) return known;
        expireAt(secondsOf(time, now), FULL_SWEEP_ROWS);
        if (full(key)) return "full";
      }
      if (insert.run(key, name, expiresAt).changes === 0) return again(key, name, expiresAt, now)!;
      add(key, 1);
      last.set(keyid, counters.live(key));
      return "inserted";
    };
  };

  const replay = (options: ReplayOptions): ReplayStore => {
    const [put, { keyCap = KEY_CAP }] = [inserter(options), options];
    return {
      atCap: (keyid, now) => {
        // A look before the signature is checked; the insert under the cap is what holds.
        if ((last.get(keyid) ?? keyCap) < keyCap / 2) return false;
        const row = keyOf.get(keyid);
        if (row === undefined || row.live < keyCap) return false;
        // Rare, and worth a look at what has expired: the key is refused otherwise until the next sweep.
        return writer.write(() => {
          expireAt(secondsOf(time, now), FULL_SWEEP_ROWS);
          return counters.live(row.id) >= keyCap;
        });
      },
      insert: (keyid, nonce, expiresAt, now) => ofKey(keyid, () => put({ keyid, nonce, expiresAt, now })),
    };
  };

  const expire = (nowMs: number, limit: number): number => expireAt(Math.floor(nowMs / 1000), limit);
  return { replay, use: inserter({}), giveBack, expire };
}
