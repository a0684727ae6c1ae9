/** Our buyer and our seller on real sockets, both transports, with signed requests and signed webhooks. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type Database from "better-sqlite3";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { createBuyer, createTaskEndings, type TaskEndings } from "../../runtime/buyer/index.js";
import type { BuyerOptions } from "../../runtime/buyer/types.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { createGuardedFetch } from "../../runtime/net/index.js";
import { createReceiver, type Delivery, nodeListener, type Receiver } from "../../runtime/receiver/index.js";
import { type Seller, signatureAuth } from "../../runtime/seller/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { staticKeys } from "../../runtime/signing/index.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { createTestKey } from "../../runtime/testing/index.js";
import { buyRequest, newBench, openSeller } from "../seller/fixture.js";
import { sellerKey } from "../support/receiver.js";
import { until } from "../support/until.js";

const BUYER = "https://buyer.example/agent";

interface Both {
  readonly url: string;
  readonly seller: Seller<Database.Database>;
  readonly receiver: Receiver<Database.Database>;
  readonly endings: TaskEndings;
  readonly seen: Delivery[];
  readonly bench: ReturnType<typeof newBench>;
  buyer(
    transport: "mcp" | "a2a",
    more?: Partial<BuyerOptions<typeof release>>,
  ): ReturnType<typeof createBuyer<typeof release>>;
  close(): Promise<void>;
}

async function both(more: object = {}): Promise<Both> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-buyer-"));
  const key = sellerKey("seller-1");
  const requestKey = createTestKey({ keyid: "buyer-1", use: "request-signing" });
  const outbox = openSqliteStore({ path: path.join(folder, "seller.db") });
  const inbox = openSqliteStore({ path: path.join(folder, "buyer.db") });
  const endings = createTaskEndings();
  const seen: Delivery[] = [];
  const http = createServer((request, response) => handler(request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const hooks = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const senders = new Map<string, object>();
  const receiver = createReceiver({
    store: inbox,
    release,
    handlers: endings.through({ fallback: (delivery: Delivery) => void seen.push(delivery) }),
    senders: senders as never,
    publicUrl: hooks,
    pollMs: 10,
  });
  receiver.start();
  const handler = nodeListener(receiver);
  const fetch = createGuardedFetch({ allowHttp: true, allowLoopback: true });
  const sender = await createSender({
    store: outbox,
    ...{ release, fetch, signer: { key: key.privateKey, keyid: key.keyid } },
    ...{ net: { allowHttp: true, allowLoopback: true }, worker: { pollMs: 10 } },
  });
  sender.start();
  const bench = newBench();
  const port = await freePort();
  const requestSigning = { keys: staticKeys({ keys: [requestKey.jwk] } as never, { sender: BUYER }) };
  const seller = await openSeller<Database.Database>(bench, {
    ...{ store: outbox, sender, requestSigning, baseUrl: `http://127.0.0.1:${port}` },
    ...more,
  });
  const url = await seller.start({ port });
  senders.set(url, { keys: staticKeys({ keys: [key.jwk] } as never, { sender: url }) });
  return {
    ...{ url, seller, receiver, endings, seen, bench },
    buyer: (transport, options = {}) =>
      createBuyer({
        release,
        agent: { url: transport === "mcp" ? `${url}/mcp` : url, transport },
        webhooks: { receiver, url: `${hooks}/hooks/a`, sender: url, endings },
        signing: { key: requestKey.privateKey, keyid: requestKey.keyid },
        allowLocal: true,
        timeoutMs: 10_000,
        ...options,
      }),
    async close() {
      await seller.close();
      await sender.stop();
      await receiver.stop();
      await fetch.close();
      http.closeAllConnections();
      http.close();
      await outbox.close();
      await inbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function withBoth(more: object, job: (made: Both) => Promise<void>): Promise<void> {
  const made = await both(more);
  try {
    await job(made);
  } finally {
    await made.close();
  }
}

const { idempotency_key: _key, ...buying } = buyRequest();
const buyOf = (product: string): never => {
  const { idempotency_key: _, ...request } = buyRequest(product);
  return request as never;
};

for (const transport of ["mcp", "a2a"] as const) {
  test(`${transport}: a buy is made once, typed, with its key`, () =>
    withBoth({}, async (made) => {
      const buyer = made.buyer(transport);
      const called = await buyer.tools.create_media_buy(buying as never);
      assert.is(called.answer.status, "completed", JSON.stringify(called.answer.data));
      const again = await buyer.tools.create_media_buy({ ...buying, idempotency_key: called.idempotencyKey } as never);
      assert.equal([again.replayed, made.bench.runs], [true, 1]);
      const missing = await buyer.tools.create_media_buy(buyOf("prod_missing"));
      assert.equal([missing.answer.status, missing.recovery, missing.attempts], ["failed", "correctable", 1]);
      await buyer.close();
    }));

  test(`${transport}: a task is settled by its webhook, with the seller's data`, () =>
    withBoth({}, async (made) => {
      const buyer = made.buyer(transport);
      let open = (): void => {};
      made.bench.gate = new Promise((resolve) => {
        open = resolve;
      });
      const called = await buyer.tools.create_media_buy(buyOf("prod_later"));
      const settled = called.settled();
      open();
      assert.is(called.answer.status, "submitted", JSON.stringify(called.answer.data));
      assert.type(called.operationId, "string");
      const answer = await settled;
      assert.is(answer.status, "completed");
      assert.match((answer.data as JsonObject).media_buy_id as string, /^mb_1_/);
      await made.receiver.idle();
      assert.is(
        made.seen.every((one) => one.operationId === called.operationId),
        true,
      );
      await buyer.close();
    }));

  test(`${transport}: without webhooks the same task is settled by polling`, () =>
    withBoth({}, async (made) => {
      const waits: number[] = [];
      let open = (): void => {};
      made.bench.gate = new Promise((resolve) => {
        open = resolve;
      });
      const buyer = made.buyer(transport, {
        pause: async (ms) => {
          if (waits.push(ms) === 2) open();
          await new Promise((resolve) => setTimeout(resolve, 20));
        },
      });
      const called = await buyer.tools.create_media_buy(buyOf("prod_later"), { webhook: false });
      assert.is(called.operationId, undefined);
      const answer = await called.settled();
      assert.is(answer.status, "completed", JSON.stringify(answer));
      assert.match((answer.data as JsonObject).media_buy_id as string, /^mb_1_/);
      assert.equal(waits.slice(0, 2), [500, 1_000], "asked at once, then less and less often");
      await buyer.close();
    }));

  test(`${transport}: a seller that declines webhooks is called without, and its task polled`, () =>
    withBoth({ sender: undefined }, async (made) => {
      const buyer = made.buyer(transport, { pause: () => new Promise((resolve) => setTimeout(resolve, 20)) });
      const called = await buyer.tools.create_media_buy(buyOf("prod_later"));
      assert.equal([called.answer.status, called.operationId], ["submitted", undefined]);
      assert.is((await called.settled()).status, "completed");
      assert.equal([made.bench.runs, made.seen.length], [1, 0]);
      // What was expected for it is expected no more.
      const { db } = made.receiver.store as SqliteStore;
      assert.is(db.prepare("select count(*) from adbind_registrations").pluck().get(), 0);
      await buyer.close();
    }));

  test(`${transport}: a seller that asks for signatures gets them`, () =>
    withBoth({ auth: signatureAuth() }, async (made) => {
      const buyer = made.buyer(transport);
      const called = await buyer.tools.get_products({ buying_mode: "brief", brief: "sports" } as never);
      assert.is(called.answer.status, "completed", JSON.stringify(called.answer.data));
      await buyer.close();
      const unsigned = createBuyer({
        release,
        agent: transport === "mcp" ? `${made.url}/mcp` : made.url,
        allowLocal: true,
      });
      const refused = await unsigned.tools.get_products({ buying_mode: "brief", brief: "sports" } as never);
      assert.is(refused.answer.status, "failed");
      await unsigned.close();
    }));
}

test("a2a: the protocol's own extension is activated where the card offers it, and its tasks are followed", () => {
  const a2aProfile = { uri: "https://protocol.example/extensions/proto/v3", required: true };
  return withBoth({ a2aProfile, sender: undefined }, async (made) => {
    const buyer = made.buyer("a2a", { pause: () => new Promise((resolve) => setTimeout(resolve, 20)) });
    const called = await buyer.tools.create_media_buy(buyOf("prod_later"), { webhook: false });
    assert.is(called.answer.status, "submitted", JSON.stringify(called.answer.data));
    assert.is((await called.settled()).status, "completed");
    const refused = await buyer.tools.create_media_buy(buyOf("prod_missing"), { webhook: false });
    assert.is(refused.answer.status, "failed");
    await buyer.close();
  });
});

const budgeted = (budget: number): JsonObject => ({
  packages: [{ product_id: "prod_asked", pricing_option_id: "po_cpm_fixed", budget }],
});

for (const [name, transport, more] of [
  ["mcp", "mcp", {}],
  ["a2a", "a2a", {}],
  ["a2a, by the protocol's extension", "a2a", { a2aProfile: { uri: "https://protocol.example/extensions/proto/v3" } }],
] as const) {
  test(`${name}: what a task asks is answered, and it is the same task until it has ended`, () =>
    withBoth(more, async (made) => {
      const buyer = made.buyer(transport);
      const called = await buyer.tools.create_media_buy(buyOf("prod_asked"));
      assert.is(called.answer.status, "input-required", JSON.stringify(called.answer));
      const { taskId } = called.answer;
      const asked = await called.settled();
      assert.equal([asked.status, asked.taskId], ["input-required", taskId]);
      const wrong = await called.respond(budgeted(50));
      assert.equal([wrong.answer.status, wrong.recovery], ["failed", "correctable"], JSON.stringify(wrong.answer));
      const more = await called.respond(budgeted(21_000));
      assert.equal([more.answer.status, more.answer.taskId], ["input-required", taskId]);
      const done = await more.respond(budgeted(10_000));
      assert.is(done.answer.status, "completed", JSON.stringify(done.answer));
      assert.equal([made.bench.made.length, await made.seller.unfinished()], [1, []]);
      const again = await more.respond({ ...budgeted(10_000), idempotency_key: done.idempotencyKey as string });
      assert.equal([again.replayed, made.bench.made.length], [true, 1], JSON.stringify(again.answer));
      const { payload } = await made.seller.call({
        ...{ tool: "get_task_status", transport: "mcp" as const, identity: { principal: BUYER } },
        args: { task_id: taskId, include_result: true },
      });
      assert.equal([payload.status, (payload.result as JsonObject)?.media_buy_id], ["completed", made.bench.made[0]]);
      await until(() =>
        made.seen.some(({ taskId: id, operationId }) => id === taskId && operationId === called.operationId),
      );
      await buyer.close();
    }));
}

test.run();
