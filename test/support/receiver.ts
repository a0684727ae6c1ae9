/** A receiver on a fresh SQLite store, with a clock of its own and a seller that signs. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type Database from "better-sqlite3";
import { pino } from "pino";
import { suite } from "uvu";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import {
  createReceiver,
  type Delivery,
  type Receiver,
  type ReceiverAnswer,
  type ReceiverRequest,
  type ReceiverSettings,
  type SenderConfig,
} from "../../runtime/receiver/index.js";
import type { ReceiverHandlers } from "../../runtime/receiver/types.js";
import { signHmac, signWebhook, staticKeys } from "../../runtime/signing/index.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";

export const START_MS = 1_776_520_800_000;
export const SELLER = "https://seller.example/agent";
export const OTHER = "https://other.example/agent";
export const PUBLIC_URL = "https://hooks.buyer.example";
export const SECRET = "c2VjcmV0LW9mLWEtc2VsbGVyLTAxMjM0NTY3ODk";
export const TOKEN = "dG9rZW4tb2YtYS1zZWxsZXItYWJjZGVmZ2hpamts";

export interface SellerKey {
  readonly keyid: string;
  readonly privateKey: object;
  readonly jwk: object;
}

export function sellerKey(keyid = "key-1", word = "proto"): SellerKey {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const jwk = publicKey.export({ format: "jwk" });
  const purpose = { kid: keyid, use: "sig", key_ops: ["verify"], alg: "EdDSA", [`${word}_use`]: "request-signing" };
  return { keyid, privateKey, jwk: { ...jwk, ...purpose } };
}

export const keysOf = (sender: string, ...keys: SellerKey[]) =>
  staticKeys({ keys: keys.map((key) => key.jwk) } as never, { sender });

export type Handlers = ReceiverHandlers<(typeof release)["tools"], Database.Database>;

export interface Setup {
  readonly receiver: Receiver<Database.Database>;
  readonly store: SqliteStore;
  readonly clock: { ms: number };
  readonly key: SellerKey;
  /** Deliveries the fallback saw. */
  readonly seen: Delivery[];
  readonly logs: string[];
  close(): Promise<void>;
}

export interface SetupOptions extends Partial<ReceiverSettings<Database.Database>> {
  readonly handlers?: Partial<Handlers>;
  readonly senderConfig?: Partial<SenderConfig>;
  readonly more?: Record<string, SenderConfig>;
}

export async function setup(options: SetupOptions = {}): Promise<Setup> {
  const { handlers, senderConfig, more, ...settings } = options;
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-receiver-"));
  const store = openSqliteStore({ path: path.join(folder, "inbox.db") });
  const clock = { ms: START_MS };
  const key = sellerKey();
  const seen: Delivery[] = [];
  const logs: string[] = [];
  const receiver = createReceiver({
    store,
    release: release as Release<(typeof release)["tools"]>,
    handlers: {
      fallback: (delivery) => {
        seen.push(delivery);
      },
      ...handlers,
    },
    senders: { [SELLER]: { keys: keysOf(SELLER, key), ...senderConfig }, ...more },
    publicUrl: PUBLIC_URL,
    now: () => clock.ms,
    random: () => 0.5,
    logger: pino({ level: "trace" }, { write: (line: string) => void logs.push(line) }),
    ...settings,
  });
  receiver.start();
  const close = async (): Promise<void> => {
    await receiver.stop();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { receiver, store, clock, key, seen, logs, close };
}

/** What `create_media_buy` answers when it is completed. */
export const bought = { media_buy_id: "m", confirmed_at: "2026-04-18T14:00:01Z", revision: 1, packages: [] } as const;

/** A task's envelope; fields set to undefined are left out. */
export const envelope = (over: Record<string, unknown> = {}): Record<string, unknown> => ({
  idempotency_key: randomUUID(),
  operation_id: "op-1",
  task_id: "task-1",
  task_type: "create_media_buy",
  status: "working",
  timestamp: "2026-04-18T14:00:00Z",
  result: over.status === "completed" ? bought : { percentage: 10 },
  ...over,
});

export interface SendOptions {
  readonly route?: string;
  readonly key?: SellerKey;
  readonly headers?: Record<string, string>;
  /** Bytes instead of the JSON of the body. */
  readonly raw?: Uint8Array;
}

/** A signed request as a seller would send it at the setup's time. */
export async function signed(
  { key, clock }: Pick<Setup, "key" | "clock">,
  body: unknown,
  options: SendOptions = {},
): Promise<ReceiverRequest & { body: Uint8Array }> {
  const target = options.route ?? "/hooks/a";
  const bytes = options.raw ?? Buffer.from(JSON.stringify(body));
  const { keyid, privateKey } = options.key ?? key;
  const { headers } = await signWebhook(
    { method: "POST", url: PUBLIC_URL + target, headers: {}, body: bytes },
    { key: privateKey, keyid, now: () => Math.floor(clock.ms / 1000) },
  );
  const fields = { host: "hooks.buyer.example", ...headers, ...options.headers };
  return { method: "POST", target, headers: fields, body: bytes };
}

export async function send(setup: Setup, body: unknown, options: SendOptions = {}): Promise<ReceiverAnswer> {
  return setup.receiver.handle(await signed(setup, body, options));
}

export async function sendHmac(
  { receiver, clock }: Setup,
  body: unknown,
  { route = "/hooks/a", secret = SECRET } = {},
): Promise<ReceiverAnswer> {
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = await signHmac(bytes, {
    secret,
    now: () => Math.floor(clock.ms / 1000),
    onDeprecated: () => undefined,
  });
  const fields = { host: "hooks.buyer.example", "content-type": "application/json", ...headers };
  return receiver.handle({ method: "POST", target: route, headers: fields, body: bytes });
}

export const statusOf = (answer: ReceiverAnswer): string => JSON.parse(answer.body).status;
export const errorOf = (answer: ReceiverAnswer): string => JSON.parse(answer.body).error;

/** A suite whose `open` gives a receiver with every kind of route, closed after each test. */
export function receiverSuite(name: string) {
  const test = suite<{ open: (options?: SetupOptions) => Promise<Setup>; opened: Setup[] }>(name);
  test.before.each((context) => {
    context.opened = [];
    context.open = async (options) => {
      const made = await setup(options);
      context.opened.push(made);
      const { expect } = made.receiver;
      const task = { sender: SELLER, kind: "task", taskType: "create_media_buy" } as const;
      await expect({ ...task, route: "/hooks/a", operationId: "op-1" });
      await expect({ ...task, route: "/hooks/a2a", format: "a2a" });
      for (const kind of ["report", "impairment", "list_change", "artifact", "rights"] as const) {
        await expect({ route: `/hooks/${kind}`, sender: SELLER, kind });
      }
      return made;
    };
  });
  test.after.each(async ({ opened }) => {
    for (const one of opened) await one.close();
  });
  return test;
}

/** Time goes by with the store looking at its clock all the while: no jump. */
export async function goBy({ clock, store }: Pick<Setup, "clock" | "store">, ms: number): Promise<void> {
  clock.ms += ms;
  await store.database.execute(`insert or replace into adbind_clock values (1, ${clock.ms}, 0, 0)`);
}

export const silent = pino({ enabled: false });
/** A second of the minute the events of these tests fall into. */
export const at = (second: number): string => `2026-04-18T14:00:${String(second).padStart(2, "0")}Z`;
