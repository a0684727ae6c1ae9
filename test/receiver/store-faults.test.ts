/** What becomes of events whose handler has ended when the store cannot write that down. */
import { setTimeout as pause } from "node:timers/promises";
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import type { PostgresTx } from "../../runtime/db/postgres/open.js";
import { createReceiver, type ReceivedEvent, type Receiver } from "../../runtime/receiver/index.js";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/postgres/open.js";
import type { Effect } from "../../runtime/store/types.js";
import { sharedPostgres } from "../support/postgres.js";
import { envelope, keysOf, PUBLIC_URL, SELLER, sellerKey, statusOf, TOKEN } from "../support/receiver.js";
import { until } from "../support/until.js";

const postgres = await sharedPostgres();
const key = sellerKey();
let store: PostgresStore;
let receiver: Receiver;
/** Attempts, as handlers are told them. */
let attempts: number[];
const told: { msg: string; error?: string }[] = [];

test.before.each(async () => {
  attempts = [];
  told.length = 0;
  store = await openPostgresStore({ url: await postgres.database(), connections: 3 });
});
test.after.each(async () => {
  await receiver.stop();
  await store.close();
});
test.after(() => postgres.stop());

/** A receiver that gives an event up with its first failure, and has one event to handle. */
async function handling(
  handler: (delivery: ReceivedEvent) => Promise<Effect<PostgresTx> | undefined>,
  pollMs = 10,
): Promise<void> {
  receiver = createReceiver({
    store,
    release: release as Release<(typeof release)["tools"]>,
    senders: { [SELLER]: { keys: keysOf(SELLER, key), bearer: { current: TOKEN } } },
    publicUrl: PUBLIC_URL,
    ...{ pollMs, backoffMs: 10, maxAttempts: 1, handlerTimeoutSeconds: 2 },
    logger: pino({ base: null }, { write: (line: string) => void told.push(JSON.parse(line)) }),
    handlers: {
      fallback: (delivery) => {
        attempts.push(delivery.attempt);
        return handler(delivery);
      },
    },
  });
  receiver.start();
  await receiver.expect({ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "op-1", mode: "Bearer" });
  const headers = {
    ...{ host: "hooks.buyer.example", "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
  };
  const body = Buffer.from(JSON.stringify(envelope({ timestamp: new Date().toISOString() })));
  const answer = await receiver.handle({ method: "POST", target: "/hooks/a", headers, body });
  assert.is(statusOf(answer), "accepted");
}

const isPutOff = (): boolean => told.some(({ msg }) => /handled again later/.test(msg));
const kept = () => store.inbox.backlog();
const NONE = { pending: 0, parked: 0, dead: 0 };
const gone = (): Promise<void> =>
  until(async () => JSON.stringify(await kept()) === JSON.stringify(NONE), "it is handled");

/** Every connection of the pool takes no writes any more, as after a fail-over: the next ones do. */
async function demote(): Promise<void> {
  const all = await Promise.all([1, 2, 3].map(() => store.pool.connect()));
  for (const client of all) {
    await client.query("set default_transaction_read_only = on");
    client.release();
  }
}

test("a primary that is demoted as a handler ends counts no failure of the handler", async () => {
  await handling(async () => {
    if (isPutOff()) return undefined;
    // Whoever asks first finds out: the look that follows the one which brought this event is over, and the next poll is far.
    await pause(200);
    await demote();
    return undefined;
  }, 1_500);
  await gone();
  assert.equal([...new Set(attempts)], [1]);
  assert.ok(attempts.length > 1);
  assert.ok(told.some(({ msg, error }) => /handled again later/.test(msg) && /takes no writes/.test(error ?? "")));
});

test("a connection that is lost within an effect counts no failure of the handler", async () => {
  await store.pool.query("create table bookings (task text)");
  await handling(async ({ taskId }) => async (tx) => {
    await tx.query("insert into bookings values ($1)", [taskId]);
    if (attempts.length < 4) await tx.query("select pg_terminate_backend(pg_backend_pid())");
  });
  await gone();
  assert.equal(attempts, [1, 1, 1, 1]);
  assert.is((await store.pool.query("select from bookings")).rowCount, 1);
});

test("an effect that ends its connection each time uses up the tries of its event", async () => {
  await handling(async () => async (tx) => {
    await tx.query("select pg_terminate_backend(pg_backend_pid())");
  });
  await until(async () => (await kept()).dead === 1, "it is given up");
  assert.ok(attempts.length > 4, "a few times the store may be at fault");
});

test("a disk that is full for long as effects write counts no failure of a handler", async () => {
  await handling(async () => async (tx) => {
    if (attempts.length < 9) await tx.query("do $$ begin raise exception 'no space' using errcode = '53100'; end $$");
  });
  await gone();
  assert.equal([...new Set(attempts)], [1]);
  assert.is(attempts.length, 9);
});

test("a handler that lets nothing else run until its time is over has failed by itself", async () => {
  await handling(async () => {
    const end = performance.now() + 2_100;
    while (performance.now() < end);
    return () => undefined;
  });
  await until(async () => (await kept()).dead === 1, "it is given up");
  assert.equal(attempts, [1]);
});

test("a store that keeps a handler waiting that has ended counts no failure of it", async () => {
  const holder = await store.pool.connect();
  await handling(async () => {
    if (attempts.length > 1) return undefined;
    await holder.query("begin");
    await holder.query("lock table adbind_inbox in access exclusive mode");
    return undefined;
  });
  // The handler has two seconds, the store waits for a lock for longer than that.
  await until(isPutOff, "the wait is given up");
  await holder.query("rollback");
  holder.release();
  await gone();
  assert.equal([...new Set(attempts)], [1]);
});

test("what an effect does wrong by itself is a failure of the handler, in a database's words too", async () => {
  const faults: readonly [string, () => unknown][] = [
    ["a service of its own is down", () => Promise.reject(Object.assign(new Error("down"), { code: "ECONNREFUSED" }))],
    [
      "a constraint is broken by what it writes",
      () => Promise.reject(Object.assign(new Error("duplicate key"), { code: "23505" })),
    ],
  ];
  for (const [what, fault] of faults) {
    await handling(async () => async () => void (await fault()));
    await until(async () => (await kept()).dead === 1, what);
    await receiver.stop();
    await store.pool.query("delete from adbind_inbox");
  }
  await handling(async () => async (tx) => {
    await tx.query("set local statement_timeout = 50");
    await tx.query("select pg_sleep(5)");
  });
  await until(async () => (await kept()).dead === 1, "a statement that takes too long");
});

test.run();
