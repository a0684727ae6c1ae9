/** A registry on a fresh store, with a clock of its own and people who may use it. */
import { randomUUID, scryptSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import * as assert from "uvu/assert";
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

/** Without the embedded issuer, unless it is asked for: loading it takes a fifth of a second. */
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
    embeddedIssuer: false,
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

const SALT = Buffer.alloc(16, 1);
/** As a user's password is kept, at little cost: ours takes a quarter of a second, each time somebody logs in. */
export function cheapDigest(password: string): string {
  const key = scryptSync(password, SALT, 32, { N: 2 ** 8, r: 8, p: 1 });
  return `scrypt$8$8$1$${SALT.toString("base64url")}$${key.toString("base64url")}`;
}

/** Adds a user who logs in quickly; what a command that adds one keeps, server-cli.test.ts looks at. */
export async function addUser(
  { registry, clock }: Setup,
  { email, password, organization }: { email: string; password: string; organization?: string },
): Promise<void> {
  const rest = { name: "Ada", organization: organization ?? null, suspended: 0, created: clock.ms };
  assert.ok(await registry.access.users.add({ id: randomUUID(), email, password: cheapDigest(password), ...rest }));
}

export const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });
