/**
 * A receiver to be killed: `node receiver-child.ts <store url> <port> <public key as JSON>`; it begins at the first byte on
 * its standard input, so that a spare one can be loaded beforehand. Its handlers write one row an
 * event in the transaction that completes it; now and then they fail or take their time, so that kills fall anywhere.
 */

import type { Release } from "../../runtime/contract/index.js";
import { createReceiver, type ReceiverOptions } from "../../runtime/receiver/receiver.js";
import type { EventOutcome, ReceivedEvent } from "../../runtime/receiver/types.js";
import { staticKeys } from "../../runtime/signing/index.js";
import { openStore } from "../../runtime/store/index.js";
import { KINDS, ROUTE, SENDER } from "./receiver-run.js";
import { called, handled, listening, victimOptions } from "./receiver-victim.js";

const [url, port, jwk] = process.argv.slice(2) as [string, string, string];
await called();
const store = await openStore(url);

const sqlite = async (delivery: ReceivedEvent): Promise<EventOutcome<import("better-sqlite3").Database>> => {
  const { taskId, idempotencyKey } = await handled(delivery);
  return (db) => {
    db.prepare("insert into effects (task, key) values (?, ?)").run(taskId, idempotencyKey);
  };
};
const postgres = async (delivery: ReceivedEvent) => {
  const { taskId, idempotencyKey } = await handled(delivery);
  return async (tx: import("../../runtime/store/postgres/tables.js").Tx) => {
    await tx.query("insert into effects (task, key) values ($1, $2)", [taskId, idempotencyKey]);
  };
};

const receiver = createReceiver({
  ...victimOptions,
  store,
  handlers: { fallback: store.database.shared ? postgres : sqlite },
  senders: { [SENDER]: { keys: staticKeys([JSON.parse(jwk)], { sender: SENDER }) } },
} as ReceiverOptions<Release["tools"], unknown>);
receiver.start();
for (const kind of KINDS) await receiver.expect({ route: `${ROUTE}/${kind}`, sender: SENDER, kind });
listening(receiver, port);
