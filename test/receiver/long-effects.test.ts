/** An effect that takes longer than a lease, on PostgreSQL: it keeps its own event, and nobody else's. */
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import type { PostgresTx } from "../../runtime/db/postgres/open.js";
import { createReceiver, type ReceivedEvent } from "../../runtime/receiver/index.js";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/postgres/open.js";
import type { Effect } from "../../runtime/store/types.js";
import { sharedPostgres } from "../support/postgres.js";
import { envelope, keysOf, PUBLIC_URL, SELLER, sellerKey, statusOf, TOKEN } from "../support/receiver.js";
import { until } from "../support/until.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());
const key = sellerKey();
type Handler = (delivery: ReceivedEvent) => Promise<Effect<PostgresTx> | undefined>;

const receiverOn = (store: PostgresStore, fallback: Handler) =>
  createReceiver({
    store,
    release: release as Release<(typeof release)["tools"]>,
    senders: { [SELLER]: { keys: keysOf(SELLER, key), bearer: { current: TOKEN } } },
    publicUrl: PUBLIC_URL,
    ...{ pollMs: 20, leaseSeconds: 1, concurrency: 2 },
    logger: pino({ enabled: false }),
    handlers: { fallback },
  });

test("an effect that lasts longer than a lease lets the leases of others be renewed, and other instances take what is due", async () => {
  const url = await postgres.database();
  const stores = await Promise.all([1, 2].map(() => openPostgresStore({ url, connections: 4 })));
  const handled: string[] = [];
  const over = Promise.withResolvers<void>();
  const first = receiverOn(stores[0]!, async ({ taskId }) => {
    handled.push(`${taskId} by the first`);
    if (taskId === "effect") return () => over.promise;
    await over.promise;
    return undefined;
  });
  const second = receiverOn(stores[1]!, async ({ taskId }) => {
    handled.push(`${taskId} by the second`);
    return undefined;
  });
  try {
    first.start();
    await first.expect({ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "op-1", mode: "Bearer" });
    const headers = {
      host: "hooks.buyer.example",
      "content-type": "application/json",
      authorization: `Bearer ${TOKEN}`,
    };
    const send = async (task_id: string): Promise<void> => {
      const body = Buffer.from(JSON.stringify(envelope({ task_id, timestamp: new Date().toISOString() })));
      assert.is(statusOf(await first.handle({ method: "POST", target: "/hooks/a", headers, body })), "accepted");
    };
    await send("effect");
    await send("handler");
    await until(() => handled.length === 2);
    const begun = Math.max(...(await stores[0]!.inbox.list()).map(({ due }) => due));
    second.start();
    const isOver = async (): Promise<boolean> =>
      (await stores[0]!.inbox.list()).some(({ taskId, due }) => taskId === "handler" && due > begun + 1_000);
    await until(isOver, "the handler's lease is renewed beyond the end of the effect's");
    await send("due");
    await until(() => handled.includes("due by the second"), "the second takes it");
    assert.equal(handled, ["effect by the first", "handler by the first", "due by the second"]);
    over.resolve();
    await until(async () => (await stores[0]!.inbox.backlog()).pending === 0);
    assert.is(handled.length, 3);
  } finally {
    over.resolve();
    for (const one of [first, second]) await one.stop();
    for (const store of stores) await store.close();
  }
});

test.run();
