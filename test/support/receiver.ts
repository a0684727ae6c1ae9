/** A receiver on a fresh SQLite store, with a clock of its own and a seller that signs. */
import { randomUUID } from "node:crypto";
import type Database from "better-sqlite3";
import { pino } from "pino";
import { suite } from "uvu";
import { release } from "../../generated/3.1.0/index.js";
import type { JsonObject, Release } from "../../runtime/contract/index.js";
import type { ReceiverAnswer, ReceiverRequest, ReceiverSettings, SenderConfig } from "../../runtime/receiver/index.js";
import type { BoundRelease, ReceiverHandlers } from "../../runtime/receiver/types.js";
import { signHmac, staticKeys } from "../../runtime/signing/index.js";
import {
  createTestKey,
  createTestReceiver,
  signTestWebhook,
  TEST_NOW_MS,
  type TestKey,
  type TestReceiver,
  type TestReceiverOptions,
} from "../../runtime/testing/index.js";

export const START_MS = TEST_NOW_MS;
export const SELLER = "https://seller.example/agent";
export const OTHER = "https://other.example/agent";
export const PUBLIC_URL = "https://hooks.buyer.example";
export const SECRET = "c2VjcmV0LW9mLWEtc2VsbGVyLTAxMjM0NTY3ODk";
export const TOKEN = "dG9rZW4tb2YtYS1zZWxsZXItYWJjZGVmZ2hpamts";

export type SellerKey = TestKey;

export const sellerKey = (keyid = "key-1", word = "proto"): SellerKey => createTestKey({ keyid, word });

export const keysOf = (sender: string, ...keys: SellerKey[]) =>
  staticKeys({ keys: keys.map((key) => key.jwk) }, { sender });

export type Handlers = ReceiverHandlers<(typeof release)["tools"], Database.Database>;

export type Setup = TestReceiver;

export interface SetupOptions extends Partial<ReceiverSettings<Database.Database>> {
  readonly handlers?: Partial<Handlers>;
  readonly senderConfig?: Partial<SenderConfig>;
  readonly more?: Record<string, SenderConfig>;
  readonly releases?: readonly BoundRelease<Database.Database>[];
}

export async function setup({ more, ...options }: SetupOptions = {}): Promise<Setup> {
  return createTestReceiver({
    release: release as Release<(typeof release)["tools"]>,
    ...{ sender: SELLER, publicUrl: PUBLIC_URL, keyid: "key-1", ...(more && { senders: more }) },
    ...options,
  } as TestReceiverOptions<(typeof release)["tools"]>);
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
  const made = signTestWebhook({
    url: PUBLIC_URL + (options.route ?? "/hooks/a"),
    event: options.raw ?? (body as JsonObject),
    key: options.key ?? key,
    now: () => clock.ms,
  });
  return { ...made, headers: { host: "hooks.buyer.example", ...made.headers, ...options.headers } };
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
