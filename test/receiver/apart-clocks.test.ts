/** Receivers on one PostgreSQL whose machines' clocks are an hour apart. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { openDatabase } from "../../runtime/db/index.js";
import { createReceiver, type Receiver } from "../../runtime/receiver/index.js";
import { openPostgresStore, openStore, type ReceiverStore, shardedBySender } from "../../runtime/store/index.js";
import { sharedPostgres } from "../support/postgres.js";
import {
  envelope,
  errorOf,
  keysOf,
  PUBLIC_URL,
  SELLER,
  sellerKey,
  signed,
  statusOf,
  TOKEN,
} from "../support/receiver.js";
import { until } from "../support/until.js";

const HOUR = 3_600_000;
const postgres = await sharedPostgres();
const key = sellerKey();
const { now: system } = Date;
let url: string;
let opened: { receiver: Receiver; store: ReceiverStore }[];
/** What was handled, and how often a handler fails first. */
let handled: string[];
let failures: number;

/** A receiver of a process whose clock is off, as every part of it sees that. @param ms by how much */
async function openOff(ms: number, open: () => Promise<ReceiverStore> = () => openPostgresStore({ url })) {
  Date.now = () => system() + ms;
  const store = await open();
  const receiver = createReceiver({
    store,
    release: release as Release<(typeof release)["tools"]>,
    senders: { [SELLER]: { keys: keysOf(SELLER, key), bearer: { current: TOKEN } } },
    publicUrl: PUBLIC_URL,
    pollMs: 10,
    logger: pino({ enabled: false }),
    handlers: {
      fallback: ({ status }) => {
        failures -= 1;
        if (failures >= 0) throw new Error("not yet");
        handled.push(String(status));
      },
    },
  });
  opened.push({ receiver, store });
  return { receiver, store };
}

const at = (ms: number): string => new Date(system() + ms).toISOString();
const post = (receiver: Receiver, body: object) =>
  receiver.handle({
    method: "POST",
    target: "/hooks/a",
    headers: { host: "hooks.buyer.example", "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
    body: Buffer.from(JSON.stringify(body)),
  });
const expectTasks = (receiver: Receiver, mode: "Bearer" | "signature" = "Bearer") =>
  receiver.expect({ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "op-1", mode });

test.before.each(async () => {
  url = await postgres.database();
  [opened, handled, failures] = [[], [], 0];
});
test.after.each(async () => {
  Date.now = system;
  for (const { receiver, store } of opened) {
    await receiver.stop();
    await store.close();
  }
});
test.after(() => postgres.stop());

for (const [web, worker] of [
  [HOUR, 0],
  [0, -HOUR],
] as const)
  test(`what one accepts is handled at once by another whose clock is ${web - worker} ms behind`, async () => {
    const { receiver } = await openOff(web);
    await expectTasks(receiver);
    const other = await openOff(worker);
    other.receiver.start();
    assert.is(statusOf(await post(receiver, envelope({ timestamp: at(0) }))), "accepted");
    await until(() => handled.length > 0);
  });

test("what failed at one whose clock is ahead is tried by others as soon as by itself", async () => {
  const { receiver, store } = await openOff(HOUR);
  await expectTasks(receiver);
  failures = 1;
  receiver.start();
  await post(receiver, envelope({ timestamp: at(0) }));
  await until(async () => (await store.inbox.list())[0]?.attempts === 1);
  await receiver.stop();
  const [event] = await store.inbox.list();
  assert.ok(Math.abs(event!.due - system()) < HOUR / 4 && Math.abs(event!.receivedAt - system()) < HOUR / 4);
  const other = await openOff(0);
  other.receiver.start();
  await until(() => handled.length > 0);
});

test("one whose clock is behind takes no older event of a task for a newer one", async () => {
  const { receiver } = await openOff(-HOUR);
  await expectTasks(receiver);
  assert.is(statusOf(await post(receiver, envelope({ timestamp: at(0), status: "input-required" }))), "accepted");
  assert.is(statusOf(await post(receiver, envelope({ timestamp: at(-60_000) }))), "stale");
});

test("what one whose clock is ahead says of a task without a time shuts nobody's later event out", async () => {
  const ahead = await openOff(HOUR);
  await expectTasks(ahead.receiver);
  await post(ahead.receiver, envelope({ timestamp: "9999-01-01T00:00:00Z" }));
  const other = await openOff(0);
  assert.is(
    statusOf(await post(other.receiver, envelope({ timestamp: at(60_000), status: "input-required" }))),
    "accepted",
  );
});

test("signatures are judged by the clock of the machine, and the event's times by the server's", async () => {
  const { receiver, store } = await openOff(HOUR);
  await expectTasks(receiver, "signature");
  const body = () => envelope({ timestamp: at(0) });
  assert.is(
    errorOf(await receiver.handle(await signed({ key, clock: { ms: system() } }, body()))),
    "webhook_signature_window_invalid",
  );
  assert.is(statusOf(await receiver.handle(await signed({ key, clock: { ms: system() + HOUR } }, body()))), "accepted");
  const [event] = await store.inbox.list();
  assert.ok(Math.abs(event!.receivedAt - system()) < HOUR / 4);
});

test("what an operator has handled again is due at once, whatever the clock of the machine it is said on", async () => {
  const { receiver, store } = await openOff(0);
  await expectTasks(receiver);
  await post(receiver, envelope({ timestamp: at(0) }));
  const [event] = await store.inbox.list();
  const [taken] = await store.inbox.take({ owner: "x", until: system() + HOUR, now: system() + 1_000, limit: 1 });
  await store.inbox.deadLetter({ id: taken!.id, owner: "x", now: system() }, "broken");
  const clock = `data:text/javascript,const%20now=Date.now;Date.now=()=>now()+${HOUR}`;
  const command = ["--import", "./test/runner/sources.mjs", "--conditions=adbind-source", "--import", clock];
  await promisify(execFile)(process.execPath, [
    ...command,
    "cli/main.ts",
    "inbox",
    "replay",
    String(event!.id),
    "--store",
    url,
  ]);
  receiver.start();
  await until(() => handled.length > 0);
});

for (const [name, open] of [
  ["openStore", () => openStore(url)],
  [
    "shardedBySender",
    () => shardedBySender([{ name: "a", database: () => openDatabase(url) as never }]) as Promise<ReceiverStore>,
  ],
] as const)
  test(`a store that ${name} opens has the server's clock, too`, async () => {
    const { store } = await openOff(-HOUR, open);
    assert.ok(Math.abs(store.now!() - system()) < HOUR / 4);
  });

test.run();
