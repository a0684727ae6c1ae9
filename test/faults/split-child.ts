/**
 * A receiver on a split to be killed: `node split-child.ts <databases as JSON> <port> <public key as JSON>`, as
 * receiver-child.ts is one on a single database.
 */
import type { Release } from "../../runtime/contract/index.js";
import { openDatabase } from "../../runtime/db/open.js";
import { createReceiver, type ReceiverOptions } from "../../runtime/receiver/receiver.js";
import type { ReceivedEvent } from "../../runtime/receiver/types.js";
import { staticKeys } from "../../runtime/signing/index.js";
import { shardedBySender } from "../../runtime/store/split/receivers.js";
import { called, handled, listening, victimOptions } from "./receiver-victim.js";
import { routeOf, SPLIT_SENDERS } from "./split-senders.js";

const [given, port, jwk] = process.argv.slice(2) as [string, string, string];
await called();
const urls = JSON.parse(given) as Record<string, string>;
const databases = Object.entries(urls).map(([name, url]) => ({ name, database: () => openDatabase(url) }));
const store = await shardedBySender(databases);

const handle = async (delivery: ReceivedEvent): Promise<readonly [string | null, string, number]> => {
  const { taskId, idempotencyKey } = await handled(delivery);
  return [taskId, idempotencyKey, Date.now()];
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

const receiver = createReceiver({
  ...victimOptions,
  store,
  handlers: { fallback: Object.values(urls)[0]!.startsWith("sqlite:") ? onFile : onServer },
  senders: Object.fromEntries(
    SPLIT_SENDERS.map((sender) => [sender, { keys: staticKeys([JSON.parse(jwk)], { sender }) }]),
  ),
} as unknown as ReceiverOptions<Release["tools"], unknown>);
receiver.start();
// One that is there already: a registration is written again while its keyspace may be moving.
const sender = SPLIT_SENDERS[Math.floor(Math.random() * SPLIT_SENDERS.length)]!;
await receiver.expect({ route: routeOf(sender), sender, kind: "task" }).catch(() => undefined);
listening(receiver, port);
