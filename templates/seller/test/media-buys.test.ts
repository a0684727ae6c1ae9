/** A buy from the catalogue to its cancellation. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import { signOrder } from "../domain/media-buys/approval.js";
import { codeOf, openTestSeller, principal } from "./caller.js";

const DAY_MS = 86_400_000;
const brand = { domain: "buyer.example" };
const account = { brand, operator: "agency.example" };

let seller: Awaited<ReturnType<typeof openTestSeller>>;
before(async () => {
  seller = await openTestSeller();
});
after(() => seller.close());

async function order(more: JsonObject = {}, from = seller): Promise<JsonObject> {
  const { products } = (await from.call("get_products", {
    buying_mode: "brief",
    brief: "display for outdoor readers",
    account,
  })) as { products: { product_id: string; pricing_options: { pricing_option_id: string }[] }[] };
  const [product] = products;
  assert.ok(product);
  return {
    account,
    brand,
    start_time: new Date(Date.now() + DAY_MS).toISOString(),
    end_time: new Date(Date.now() + 8 * DAY_MS).toISOString(),
    packages: [
      {
        product_id: product.product_id,
        pricing_option_id: product.pricing_options[0]?.pricing_option_id,
        budget: 5000,
      },
    ],
    ...more,
  };
}

test("a buy is made once, however often it is asked for with one key", async () => {
  const request = await order({ idempotency_key: randomUUID() });
  const first = await seller.call("create_media_buy", request);
  const second = await seller.call("create_media_buy", request);
  assert.equal(typeof first.media_buy_id, "string");
  assert.equal(second.media_buy_id, first.media_buy_id);
  assert.equal(second.replayed, true);
  const { media_buys } = (await seller.call("get_media_buys", { account })) as { media_buys: JsonObject[] };
  assert.equal(media_buys.length, 1);
  assert.equal(media_buys[0]?.status, "pending_creatives");
});

test("another caller's buys are not there", async () => {
  const { media_buy_id } = await seller.call("create_media_buy", await order());
  const { payload } = await seller.seller.call({
    tool: "get_media_buys",
    args: { media_buy_ids: [media_buy_id] },
    transport: "mcp",
    identity: { principal: "somebody else" },
  });
  assert.deepEqual(payload.media_buys, []);
});

test("a canceled buy changes no more", async () => {
  const { media_buy_id } = await seller.call("create_media_buy", await order());
  const cancel = { account, media_buy_id, canceled: true };
  assert.equal((await seller.call("update_media_buy", cancel)).errors, undefined);
  assert.equal(codeOf(await seller.call("update_media_buy", cancel)), "NOT_CANCELLABLE");
  assert.equal(codeOf(await seller.call("update_media_buy", { account, media_buy_id, paused: true })), "INVALID_STATE");
});

test("an order that cannot be booked says why", async () => {
  const request = await order();
  const [line] = request.packages as JsonObject[];
  const unknown = { ...request, packages: [{ ...line, product_id: "nowhere" }] };
  assert.equal(codeOf(await seller.call("create_media_buy", unknown)), "PRODUCT_NOT_FOUND");
  const backwards = { ...request, end_time: request.start_time };
  assert.equal(codeOf(await seller.call("create_media_buy", backwards)), "INVALID_REQUEST");
});

test("a large guaranteed order waits for a signature", async () => {
  const request = await order();
  const [line] = request.packages as JsonObject[];
  const large = { ...request, packages: [{ ...line, budget: 75_000 }] };
  const { status, task_id } = await seller.call("create_media_buy", large);
  assert.equal(status, "submitted");
  const deadline = Date.now() + 15_000;
  let task: JsonObject = {};
  while (task.status !== "completed" && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    task = await seller.call("get_task_status", { task_id, include_result: true });
  }
  assert.equal(task.status, "completed");
  assert.equal(typeof (task.result as JsonObject).media_buy_id, "string");
});

test("in production it waits until somebody signs", async () => {
  const production = await openTestSeller("production");
  try {
    const request = await order({}, production);
    const [line] = request.packages as JsonObject[];
    const large = { ...request, packages: [{ ...line, budget: 75_000 }] };
    const { status, task_id } = await production.call("create_media_buy", large);
    assert.equal(status, "submitted");
    const taskId = String(task_id);
    const waiting = production.seller.task(taskId);
    let tries = 0;
    // Another call changes something the order touches while it is being booked.
    const complete: typeof waiting.complete = (...booked) => {
      tries += 1;
      return tries === 1 ? Promise.reject(new ToolError("CONFLICT", "changed meanwhile")) : waiting.complete(...booked);
    };
    await signOrder(await production.callFor(principal), taskId, { ...waiting, complete } as never);
    assert.equal(tries, 2);
    const task = await production.call("get_task_status", { task_id, include_result: true });
    assert.equal(task.status, "completed");
    const { media_buys } = (await production.call("get_media_buys", { account })) as { media_buys: JsonObject[] };
    assert.equal(media_buys.length, 1);
    await assert.rejects(
      signOrder(await production.callFor(principal), taskId, production.seller.task(taskId)),
      /no order waits/,
    );
  } finally {
    await production.close();
  }
});
