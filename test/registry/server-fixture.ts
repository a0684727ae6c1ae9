/** A registry on a fresh store, with a clock of its own and people who may use it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { createRegistry, type Registry } from "../../runtime/registry/server/app.js";
import { type Accounts, accountsOf } from "../../runtime/registry/server/auth/accounts.js";
import type { RegistryOptions } from "../../runtime/registry/server/settings.js";
import { openSqliteStore, type PostgresStore, type SqliteStore } from "../../runtime/store/index.js";

export const START_MS = Date.UTC(2026, 2, 2, 10);
export const BASE_URL = "https://registry.example";

export interface Setup {
  readonly registry: Registry;
  readonly store: SqliteStore | PostgresStore;
  readonly accounts: Accounts;
  readonly clock: { ms: number };
  /** Lines of the log, parsed. */
  readonly logs: Record<string, unknown>[];
  close(): Promise<void>;
}

export interface SetupOptions extends Partial<Omit<RegistryOptions, "store">> {
  /** Default a SQLite file that is removed at the end. */
  readonly store?: SqliteStore | PostgresStore;
}

export async function setupRegistry({ store: given, ...options }: SetupOptions = {}): Promise<Setup> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-registry-"));
  const store = given ?? openSqliteStore({ path: path.join(folder, "registry.db") });
  const clock = { ms: START_MS };
  const now = (): number => clock.ms;
  const logs: Record<string, unknown>[] = [];
  const logger = pino({ level: "trace" }, { write: (line: string) => void logs.push(JSON.parse(line)) });
  const registry = await createRegistry({
    store,
    baseUrl: BASE_URL,
    crawling: "off",
    limits: false,
    logger,
    now,
    ...options,
  });
  return {
    registry,
    store,
    accounts: accountsOf(registry.access, now),
    clock,
    logs,
    async close() {
      await registry.stop();
      if (given === undefined) await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });
