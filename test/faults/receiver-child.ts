/**
 * A receiver to be killed: `node receiver-child.ts <store url> <port> <public key as JSON>`; it begins at the first byte on
 * its standard input, so that a spare one can be loaded beforehand. Its handlers write one row an
 * event in the transaction that completes it; now and then they fail or take their time, so that kills fall anywhere.
 */

import { createServer } from "node:http";
import { pino } from "pino";
import { facts } from "../../generated/3.1.0/facts.js";
import type { Release } from "../../runtime/contract/index.js";
import { nodeListener } from "../../runtime/receiver/node.js";
import { createReceiver, type ReceiverOptions } from "../../runtime/receiver/receiver.js";
import type { EventOutcome, ReceivedEvent } from "../../runtime/receiver/types.js";
import { staticKeys } from "../../runtime/signing/index.js";
import { openStore } from "../../runtime/store/index.js";
import { KINDS, PUBLIC_URL, ROUTE, SENDER } from "./receiver-run.js";

const [url, port, jwk] = process.argv.slice(2) as [string, string, string];
await new Promise((resolve) => process.stdin.once("data", resolve));
const store = await openStore(url);

const handle = async (delivery: ReceivedEvent): Promise<ReceivedEvent> => {
  const chance = Math.random();
  if (chance < 0.2) await new Promise((resolve) => setTimeout(resolve, chance * 50));
  if (chance > 0.95 && delivery.attempt < 3) throw new Error("on purpose");
  return delivery;
};

const sqlite = async (delivery: ReceivedEvent): Promise<EventOutcome<import("better-sqlite3").Database>> => {
  const { taskId, idempotencyKey } = await handle(delivery);
  return (db) => {
    db.prepare("insert into effects (task, key) values (?, ?)").run(taskId, idempotencyKey);
  };
};
const postgres = async (delivery: ReceivedEvent) => {
  const { taskId, idempotencyKey } = await handle(delivery);
  return async (tx: import("../../runtime/store/postgres/tables.js").Tx) => {
    await tx.query("insert into effects (task, key) values ($1, $2)", [taskId, idempotencyKey]);
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
  handlers: { fallback: store.database.shared ? postgres : sqlite },
  senders: { [SENDER]: { keys: staticKeys([JSON.parse(jwk)], { sender: SENDER }) } },
  publicUrl: PUBLIC_URL,
  ignoreHost: true,
  // Short, so that a killed instance's events are soon another's.
  leaseSeconds: 1,
  pollMs: 50,
  backoffMs: 5,
  maxAttempts: 1000,
  logger: pino({ enabled: false }),
} as ReceiverOptions<Release["tools"], unknown>);
receiver.start();
for (const kind of KINDS) await receiver.expect({ route: `${ROUTE}/${kind}`, sender: SENDER, kind });
createServer(nodeListener(receiver)).listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\n"));
