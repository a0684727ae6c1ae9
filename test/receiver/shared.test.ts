/** Two instances on one PostgreSQL: one keyspace, one order, one effect. */

import { randomBytes } from "node:crypto";
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { sql } from "../../runtime/db/postgres/sql.js";
import { createReceiver } from "../../runtime/receiver/index.js";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/index.js";
import { sharedPostgres } from "../support/postgres.js";
import {
  envelope,
  errorOf,
  keysOf,
  PUBLIC_URL,
  SELLER,
  START_MS,
  sellerKey,
  setup,
  signed,
  statusOf,
} from "../support/receiver.js";
import { codeOf } from "../support/thrown.js";

const postgres = await sharedPostgres();
const url = await postgres.database();
const key = sellerKey();

const instance = (store: PostgresStore) => {
  const receiver = createReceiver({
    store,
    release: release as Release<(typeof release)["tools"]>,
    senders: { [SELLER]: { keys: keysOf(SELLER, key) } },
    publicUrl: PUBLIC_URL,
    now: () => START_MS,
    logger: pino({ enabled: false }),
    handlers: {
      fallback:
        ({ taskId, status }) =>
        async (tx) => {
          await sql`insert into bookings (task, status) values (${taskId}, ${status})`.run(tx);
        },
    },
  });
  receiver.start();
  return receiver;
};

test("of copies sent to both exactly one is accepted, and each event has one effect", async () => {
  const stores = [await openPostgresStore({ url }), await openPostgresStore({ url })];
  await sql`create table bookings (task text, status text)`.run(stores[0]!.database);
  const receivers = stores.map(instance);
  await receivers[0]!.expect({ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "op-1" });
  const sender = { key, clock: { ms: START_MS } };
  const bodies = Array.from({ length: 20 }, (_, i) => envelope({ task_id: `t-${i}` }));
  const answers = await Promise.all(
    bodies.flatMap((body) =>
      receivers.flatMap((receiver) => [1, 2].map(async () => receiver.handle(await signed(sender, body)))),
    ),
  );
  const counts = Object.groupBy(answers, (answer) => `${answer.status} ${statusOf(answer)}`);
  assert.equal(Object.fromEntries(Object.entries(counts).map(([name, list]) => [name, list!.length])), {
    "200 accepted": 20,
    "200 duplicate": 60,
  });
  await Promise.all(receivers.map((receiver) => receiver.idle()));
  const rows = await sql<{ task: string }>`select task from bookings`.rows(stores[0]!.database);
  assert.is(rows.length, 20);
  assert.is(new Set(rows.map((row) => row.task)).size, 20);
  assert.equal(await stores[0]!.inbox.list(), []);

  // A signature that one instance has seen is seen by the other.
  const request = await signed(sender, envelope({ task_id: "again" }));
  assert.is((await receivers[0]!.handle(request)).status, 200);
  assert.is((await receivers[1]!.handle(request)).status, 401);

  // What one parked, a registration told to the other releases.
  const early = await receivers[0]!.handle(await signed(sender, envelope({ task_id: "early", operation_id: "op-2" })));
  assert.is(early.status, 200);
  assert.is(await receivers[1]!.expect({ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "op-2" }), 1);
  await receivers[1]!.idle();
  for (const receiver of receivers) await receiver.stop();
  for (const store of stores) await store.close();
});

test("a result that is wrong under a name with a NUL, which PostgreSQL stores nowhere, is told and kept for a human", async () => {
  const store = await openPostgresStore({ url: await postgres.database() });
  const receiver = instance(store);
  await receiver.expect({ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "op-1" });
  const result = { creatives: [{ creative_id: "c", action: "failed", assignment_errors: { "p\0\ud800": 5 } }] };
  const wrong = envelope({ task_type: "sync_creatives", status: "completed", result });
  const answer = await receiver.handle(await signed({ key, clock: { ms: START_MS } }, wrong));
  assert.equal([answer.status, errorOf(answer)], [400, "result_invalid"]);
  const [dead] = await store.inbox.list({ state: "dead" });
  assert.is(
    dead?.error,
    "the result is not what its release says: /creatives/0/assignment_errors/p\ufffd must be string",
  );
  await receiver.stop();
  await store.close();
});

test("no two ids are one, and none is another, on either engine", async () => {
  const store = await openPostgresStore({ url: await postgres.database() });
  const plain = await setup();
  const receivers = [instance(store), plain.receiver];
  const odd = ["a\0b", "ab", "a\ud800", "a\ud801", "a\ufffd", randomBytes(6_000).toString("hex")];
  const changes = odd.map((change_id) => ({ change_id, recorded_at: "2026-04-18T14:00:00Z" }));
  for (const receiver of receivers) {
    const read = (account: string, some: typeof changes) =>
      receiver.readChanges({
        sender: SELLER,
        account,
        list: async () => ({ changes: some, cursor: "c", has_more: false }),
      });
    assert.is((await read("acc", changes)).accepted, odd.length);
    assert.is((await read("acc", changes)).accepted, 0);
    const split = [
      { ...changes[0]!, change_id: "y:z" },
      { ...changes[0]!, change_id: "z" },
    ] as const;
    assert.is((await read("x", [split[0]])).accepted + (await read("x:y", [split[1]])).accepted, 2);
    for (const taskId of odd.filter((id) => !["ab", "a\ufffd"].includes(id))) {
      const watched = {
        sender: SELLER,
        taskId,
        taskType: "create_media_buy",
        poll: () => assert.unreachable() as never,
      };
      assert.is(await codeOf(() => receiver.watchTask(watched)), "receiver_option_invalid");
    }
  }
  await receivers[0]!.stop();
  await store.close();
  await plain.close();
});

test.after(() => postgres.stop());
test.run();
