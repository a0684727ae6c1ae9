/** The tables as kysely sees them. 64-bit columns hold milliseconds and counts, which a number carries exactly. */
import type { Generated, Kysely, Transaction } from "kysely";
import type { InboxRow, RegistrationRow } from "../rows.js";

export interface Tables {
  adbind_senders: { id: Generated<number>; url: string };
  adbind_sender_usage: { sender: number; shard: number; live: number };
  adbind_claims: { sender: number; key: Uint8Array; digest: Uint8Array; expires: number };
  adbind_tasks: {
    sender: number;
    task_id: string;
    instant: string;
    status: string;
    terminal: boolean;
    expires: number;
  };
  adbind_notifications: { sender: number; notification_id: string; expires: number };
  adbind_inbox: Omit<InboxRow, "id" | "url" | "reemission" | "attempts"> & {
    id: Generated<number>;
    sender: number;
    reemission: boolean;
    attempts: Generated<number>;
    owner: string | null;
    token_digest: Uint8Array | null;
    lane: string | null;
  };
  adbind_registrations: RegistrationRow;
  adbind_nonce_keys: { id: Generated<number>; keyid: string };
  adbind_nonce_usage: { key: number; shard: number; live: number };
  adbind_nonces: { key: number; nonce: string; expires: number };
  adbind_migrations: { version: number; name: string; dialect: string; checksum: string };
}

export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;

/** Caps from here on are counted in shards; below, one row keeps the bound exact. */
const SHARDED_CAP = 10_000;
const SHARDS = 16;

/** Where an insert under a cap is counted: spread by the key's first byte, so that instances seldom share a row. */
export const shardOf = (key: Uint8Array, cap: number): { shard: number; cap: number } =>
  cap < SHARDED_CAP ? { shard: 0, cap } : { shard: key[0]! % SHARDS, cap: Math.floor(cap / SHARDS) };
