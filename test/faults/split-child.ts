/**
 * A receiver on a split to be killed: `node split-child.ts <databases as JSON> <port> <public key as JSON>`, as
 * receiver-child.ts is one on a single database.
 */
import { createServer } from "node:http";
import { pino } from "pino";
import { facts } from "../../generated/3.1.0/facts.js";
import type { Release } from "../../runtime/contract/index.js";
import { openDatabase } from "../../runtime/db/open.js";
import { nodeListener } from "../../runtime/receiver/node.js";
import { createReceiver, type ReceiverOptions } from "../../runtime/receiver/receiver.js";
import type { ReceivedEvent } from "../../runtime/receiver/types.js";
import { staticKeys } from "../../runtime/signing/index.js";
import { shardedBySender } from "../../runtime/store/split/receivers.js";
import { PUBLIC_URL } from "./receiver-run.js";
import { routeOf, SPLIT_SENDERS } from "./split-senders.js";

const [given, port, jwk] = process.argv.slice(2) as [string, string, string];
await new Promise((resolve) => process.stdin.once("data", resolve));
const urls = JSON.parse(given) as Record<string, string>;
const databases = Object.entries(urls).map(([name, url]) => ({ name, database: () => openDatabase(url) }));
const store = await shardedBySender(databases);

const handle = async (delivery: ReceivedEvent): Promise<readonly [string | null, string, number]> => {
  const chance = Math.random();
  if (chance < 0.2) await new Promise((resolve) => setTimeout(resolve, chance * 50));
  if (chance > 0.95 && delivery.attempt < 3) throw new Error("on purpose");
  return [delivery.taskId, delivery.idempotencyKey, Date.now()];
};
const insert = "insert into effects (task, key, at) values";
const onFile = async (delivery: ReceivedEvent) => {
  const values = await handle(delivery);
  return (db: import("better-sqlite3").Database): void => {
    db.prepare(`${insert} (?, ?, ?)`).run(...values);
  };
};
const onServer = async (delivery: ReceivedEvent) => {
  const values = await handle(delivery);
  return async (tx: import("../../runtime/db/postgres/open.js").PostgresTx): Promise<void> => {
    await tx.query(`${insert} ($1, $2, $3)`, [...values]);
  };
};

const release = {
  ...{ word: "proto", version: "3.1.0", digest: "", generatedAt: "", tools: {}, errors: {}, specialisms: {} },
  defaultUnknownRecovery: "transient",
  facts,
  events: {},
  schemas: async () => ({}),
} as const satisfies Release;

const receiver = createReceiver({
  store,
  release,
  handlers: { fallback: Object.values(urls)[0]!.startsWith("sqlite:") ? onFile : onServer },
  senders: Object.fromEntries(
    SPLIT_SENDERS.map((sender) => [sender, { keys: staticKeys([JSON.parse(jwk)], { sender }) }]),
  ),
  publicUrl: PUBLIC_URL,
  ignoreHost: true,
  // Short, so that a killed instance's events are soon another's.
  leaseSeconds: 1,
  pollMs: 50,
  backoffMs: 5,
  maxAttempts: 1000,
  logger: pino({ enabled: false }),
} as unknown as ReceiverOptions<Release["tools"], unknown>);
receiver.start();
// One that is there already: a registration is written again while its keyspace may be moving.
const sender = SPLIT_SENDERS[Math.floor(Math.random() * SPLIT_SENDERS.length)]!;
await receiver.expect({ route: routeOf(sender), sender, kind: "task" }).catch(() => undefined);
createServer(nodeListener(receiver)).listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\n"));
