/** Our buyer and our seller on real sockets, both transports, with signed requests and signed webhooks. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { signatureAuth } from "../../runtime/seller/index.js";
import type { SqliteStore } from "../../runtime/store/index.js";
import { until } from "../support/until.js";
import { buying, buyOf, withBoth } from "./both.js";

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

  test(`${transport}: a task ends by its webhook, with the seller's data`, () =>
    withBoth({}, async (made) => {
      const buyer = made.buyer(transport);
      let open = (): void => {};
      made.bench.gate = new Promise((resolve) => {
        open = resolve;
      });
      const called = await buyer.tools.create_media_buy(buyOf("prod_later"));
      const settled = called.waitForCompletion();
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

  test(`${transport}: without webhooks the same task ends by polling`, () =>
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
      const answer = await called.waitForCompletion();
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
      assert.is((await called.waitForCompletion()).status, "completed");
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
    assert.is((await called.waitForCompletion()).status, "completed");
    const refused = await buyer.tools.create_media_buy(buyOf("prod_missing"), { webhook: false });
    assert.is(refused.answer.status, "failed");
    await buyer.close();
  });
});

test("events of a buy that was made at once come to the place of its call", () =>
  withBoth({}, async (made) => {
    const buyer = made.buyer("mcp");
    const called = await buyer.tools.create_media_buy(buying as never);
    assert.is(called.answer.status, "completed", JSON.stringify(called.answer.data));
    const { media_buy_id: id } = called.answer.data as { media_buy_id: string };
    const impairment = { impairment_id: "imp-1", transition: { to: "suspended" } };
    await made.sender.channels.impairment(id, { notificationId: "imp-1", impairment, eventType: "fraud" });
    await until(() => made.seen.length > 0);
    const [{ kind, operationId, notificationId } = {} as never] = made.seen;
    assert.equal([kind, operationId, notificationId], ["impairment", called.operationId, "imp-1"]);
    await buyer.close();
  }));

test.run();
