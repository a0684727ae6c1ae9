/** The sender on each engine, as its bench opens it. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { release } from "../../generated/3.1.0/index.js";
import type { AnyDatabase } from "../../runtime/db/index.js";
import type { GuardedFetch } from "../../runtime/net/index.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { openPostgresStore, openSqliteStore } from "../../runtime/store/index.js";
import { startPostgres } from "../../test/support/postgres.js";

const key = generateKeyPairSync("ed25519").privateKey;
const net = { allowHttp: true, allowLoopback: true };

export interface SenderEngine {
  readonly name: "sqlite" | "postgres";
  sender(fetch?: GuardedFetch): Promise<{ sender: Sender; close(): Promise<void> }>;
  store(): Promise<{ store: { readonly database: AnyDatabase }; close(): Promise<void> }>;
  /** Of a new database, for processes: an URL of PostgreSQL, a path on SQLite. */
  place(): Promise<string>;
  stop(): Promise<void>;
}

export function sqliteEngine(): SenderEngine {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-bench-"));
  let count = 0;
  const place = (): string => path.join(folder, `${count++}.db`);
  const open = () => openSqliteStore({ path: place() });
  return {
    name: "sqlite",
    async sender(fetch) {
      const store = open();
      const sender = await createSender({ ...senderOptions(fetch), store });
      return { sender: sender, close: () => store.close() };
    },
    async store() {
      const store = open();
      return { store, close: () => store.close() };
    },
    place: async () => place(),
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

export async function postgresEngine(): Promise<SenderEngine> {
  const cluster = await startPostgres();
  return {
    name: "postgres",
    async sender(fetch) {
      const store = await openPostgresStore({
        url: await cluster.database(),
        connections: 20,
        connectTimeoutMs: 60_000,
      });
      const sender = await createSender({ ...senderOptions(fetch), store });
      return { sender: sender, close: () => store.close() };
    },
    async store() {
      const store = await openPostgresStore({ url: await cluster.database(), connections: 20 });
      return { store, close: () => store.close() };
    },
    place: () => cluster.database(),
    stop: () => cluster.stop(),
  };
}

export const senderOptions = (fetch?: GuardedFetch) => ({
  release,
  signer: { key, keyid: "k" },
  net,
  ...(fetch !== undefined && { fetch }),
});
