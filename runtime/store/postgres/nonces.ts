/** Nonces of verified signatures: bounded per key and in all, never evicted to make room (docs/protocol/signing.md#replay). */
import { hash } from "node:crypto";
import type { ReplayStore } from "../../contract/replay-store.js";
import { sql } from "../../db/postgres/sql.js";
import { nonceKey, senderOfKeyid } from "../keys.js";
import type { NonceUse, ReplayOptions } from "../types.js";
import type { Counting } from "./claims.js";
import type { ExpiryTime } from "./clock.js";
import { uncount } from "./counters.js";
import type { Guarded } from "./guarded.js";
import { type Db, shardOf, type Tx } from "./tables.js";

/** Live nonces of one key: what a sender at 300 a second keeps for its five minutes. */
const KEY_CAP = 100_000;
/** Live nonces of all keys: about a gigabyte on disk. */
const TOTAL_CAP = 10_000_000;
/** How long an instance trusts its count of all keys: the total may be passed by what one second brings. */
const TOTAL_AGE_SECONDS = 1;
/** Expired nonces removed when a bound is reached. */
const FULL_SWEEP_ROWS = 2000;

class Full extends Error {}

export interface PreparedNonce {
  /** Inside the transaction, first. `renewed` where an expired one was there and is counted. */
  put(tx: Tx): Promise<"fresh" | "renewed" | "seen">;
  /** Counts a fresh one, last: its row is contended. No row says that a cap is reached, and the caller rolls back. */
  readonly count: Counting;
  readonly row: NonceRow;
  /** Where it is counted, and up to which number. */
  readonly counter: { readonly of: number; readonly shard: number; readonly cap: number };
}

export interface Nonces {
  expire(nowMs: number, limit: number): Promise<number>;
  replay(options: ReplayOptions): ReplayStore;
  /**
   * Prepares the use of a nonce inside a transaction, under the default caps. What it asks of other connections is asked
   * here: a transaction that waited for one could wait for those that wait for it.
   */
  prepare(nonce: NonceUse): Promise<PreparedNonce>;
}

export function postgresNonces(db: Db, time: ExpiryTime, guard: Guarded): Nonces {
  const makeRoom = async (now: number): Promise<number> =>
    expire(db, Math.floor((await time(now * 1000)) / 1000), FULL_SWEEP_ROWS);
  const ids = new Map<string, number>();

  const idOf = async (keyid: string): Promise<number> => {
    const cached = ids.get(keyid);
    if (cached !== undefined) return cached;
    await sql`insert into adbind_nonce_keys (keyid) values (${keyid}) on conflict do nothing`.run(db);
    const id = (await existing(db, keyid))!;
    ids.set(keyid, id);
    return id;
  };

  const countedTotal = totalCounter(db);
  const prepare = async ({ keyid, nonce, expiresAt, now }: NonceUse): Promise<PreparedNonce> => {
    const row = { key: await idOf(keyid), nonce: nonceKey(nonce), expires: expiresAt };
    const cap = (await countedTotal(now)) >= TOTAL_CAP ? 0 : KEY_CAP;
    const counter = { of: row.key, ...shardOf(firstByte(row.nonce), cap) };
    return { put: (tx) => put(tx, row, now), count: count(counter), row, counter };
  };

  const replay = ({ keyCap = KEY_CAP, totalCap = TOTAL_CAP }: ReplayOptions): ReplayStore => {
    const total = totalCounter(db);
    /** Until when a key's cap is taken to be far, in unix seconds. Only of keys that have a row: senders cannot grow it. */
    const farUntil = new Map<string, number>();
    return {
      async atCap(keyid, now) {
        // A look before the signature is checked; the insert under the cap is what holds.
        if (now < (farUntil.get(keyid) ?? 0)) return false;
        const key = ids.get(keyid) ?? (await existing(db, keyid));
        if (key === undefined) return false;
        const live = await liveOf(db, key);
        if (live < keyCap / 2) farUntil.set(keyid, now + TOTAL_AGE_SECONDS);
        if (live < keyCap) return false;
        await makeRoom(now);
        return (await liveOf(db, key)) >= keyCap;
      },
      async insert(keyid, nonce, expiresAt, now) {
        const key = await idOf(keyid);
        const row = { key, nonce: nonceKey(nonce), expires: expiresAt };
        const totalFull = (await total(now)) >= totalCap;
        const use = { keyCap: totalFull ? 0 : keyCap, now, check: (tx: Tx) => guard.sender(tx, senderOfKeyid(keyid)) };
        const first = await insert(db, row, use);
        if (first !== "full" || (await makeRoom(now)) === 0) return first;
        return insert(db, row, use);
      },
    };
  };
  return { replay, prepare, expire: (nowMs, limit) => expire(db, Math.floor(nowMs / 1000), limit) };
}

async function existing(db: Db, keyid: string): Promise<number | undefined> {
  return (await sql<{ id: number }>`select id from adbind_nonce_keys where keyid = ${keyid}`.first(db))?.id;
}

async function liveOf(db: Db, key: number): Promise<number> {
  const row = await sql<{ live: number }>`
    select coalesce(sum(live), 0)::bigint as live from adbind_nonce_usage where key = ${key}`.first(db);
  return row!.live;
}

const totalCounter = (db: Db) => {
  let read = { at: Number.NEGATIVE_INFINITY, live: Promise.resolve(0) };
  const count = async (): Promise<number> => {
    const row = await sql<{ live: number }>`
      select coalesce(sum(live), 0)::bigint as live from adbind_nonce_usage`.first(db);
    return row!.live;
  };
  return async (now: number): Promise<number> => {
    // A clock that was set back has a new count made, too.
    if (Math.abs(now - read.at) >= TOTAL_AGE_SECONDS) {
      const asked = { at: now, live: count() };
      read = asked;
      // What could not be read is asked for again.
      asked.live.catch(() => {
        if (read === asked) read = { at: Number.NEGATIVE_INFINITY, live: Promise.resolve(0) };
      });
    }
    return read.live;
  };
};

interface NonceRow {
  readonly key: number;
  readonly nonce: string;
  readonly expires: number;
}

/** Inserts without counting; `renewed` where an expired one was there and is counted. */
async function put(tx: Tx, row: NonceRow, now: number): Promise<"fresh" | "renewed" | "seen"> {
  const inserted = await sql<{ fresh: boolean }>`
    insert into adbind_nonces (key, nonce, expires) values (${row.key}, ${row.nonce}, ${row.expires})
    on conflict (key, nonce) do update set expires = excluded.expires where adbind_nonces.expires < ${now}
    returning xmax = 0 as fresh`.first(tx);
  return inserted === undefined ? "seen" : inserted.fresh ? "fresh" : "renewed";
}

async function insert(
  db: Db,
  row: NonceRow,
  { keyCap, now, check }: { keyCap: number; now: number; check: (tx: Tx) => Promise<void> },
): Promise<"inserted" | "seen" | "full"> {
  try {
    return await db.transaction(async (tx) => {
      await check(tx);
      const result = await put(tx, row, now);
      if (result === "seen") return "seen";
      const counter = { of: row.key, ...shardOf(firstByte(row.nonce), keyCap) };
      if (result === "fresh" && (await count(counter).first(tx)) === undefined) throw new Full();
      return "inserted";
    });
  } catch (error) {
    if (error instanceof Full) return "full";
    throw error;
  }
}

const firstByte = (nonce: string): Uint8Array => hash("sha256", nonce, "buffer");

function count({ of, shard, cap }: PreparedNonce["counter"]): Counting {
  return sql`
    insert into adbind_nonce_usage (key, shard, live) select ${of}::bigint, ${shard}::integer, 1 where ${cap} > 0
    on conflict (key, shard) do update set live = adbind_nonce_usage.live + 1
    where adbind_nonce_usage.live < ${cap}
    returning live`;
}

/** Removes expired nonces, oldest first, and takes them off their key's count. */
async function expire(db: Db, nowSeconds: number, limit: number): Promise<number> {
  return db.transaction(async (tx) => {
    await sql`set local synchronous_commit = off`.run(tx);
    const rows = await sql<{ of: number; nonce: string }>`
      delete from adbind_nonces where ctid = any(array(
        select ctid from adbind_nonces where expires < ${nowSeconds} order by expires limit ${limit} for update skip locked
      )) returning key as of, nonce`.rows(tx);
    const removed = rows.map(({ of, nonce }) => ({ of, first: firstByte(nonce)[0]! }));
    await uncount(tx, "key", removed);
    return rows.length;
  });
}
