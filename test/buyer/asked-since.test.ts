/** What a task asked before a crash or is told to have asked again, and what has become of the question since. */
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { BuyerOptions } from "../../runtime/buyer/types.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { documentStore, openSqliteStore } from "../../runtime/store/index.js";
import type { Says } from "../support/agent.js";
import { at, bought, envelope, PUBLIC_URL, SELLER, send, statusOf } from "../support/receiver.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { failing, order, release } from "./fixtures.js";
import { type Hooked, hooked } from "./hooked.js";

type Kept = NonNullable<BuyerOptions["intents"]>;
const test = suite<{ intents: Kept; close: () => Promise<void> }>("what was asked before a crash");

test.before.each((context) => {
  const store = openSqliteStore({ path: path.join(tempFolder(), "buyer.db") });
  context.intents = documentStore(store.database);
  context.close = () => store.close();
});
test.after.each(({ close }) => close());

const question: JsonObject = { status: "input-required", task_id: "task-1", context_id: "c-1", reason: "which?" };
const submitted: Says = { payload: { status: "submitted", task_id: "task-1", context_id: "c-1" } };
const unsupported = failing({ code: "UNSUPPORTED_FEATURE", message: "no such tool", recovery: "correctable" });

/** The buyer of the process that comes after the crash. */
const successor = ({ made, hooks }: Hooked, intents: Kept) =>
  createBuyer({
    ...{ release, agent: made.agent.mcp, allowLocal: true, intents, now: () => made.clock.ms },
    webhooks: { receiver: hooks.receiver, url: `${PUBLIC_URL}/hooks/a`, sender: SELLER },
  });

test("a question that its seller has ended meanwhile is not asked again: its end is told", ({ intents }) =>
  hooked(
    ({ tool }) => ({
      payload:
        tool === "create_media_buy" ? question : { task_id: "task-1", status: "completed", result: { ...bought } },
    }),
    async (parts) => {
      const called = await parts.made.buyer.tools.create_media_buy(order);
      assert.is(called.answer.status, "input-required");
      const buyer = successor(parts, intents);
      const [again] = await buyer.resume();
      assert.is(again?.answer.status, "submitted", "the first answer is an old one");
      const end = await again!.waitForCompletion();
      assert.equal([end.status, (end.data as JsonObject).media_buy_id], ["completed", bought.media_buy_id]);
      assert.equal(await buyer.unfinished.list(), []);
      await buyer.close();
    },
    { buyer: { intents } },
  ));

test("a question that stands is asked again, whether or not its seller can be asked", async ({ intents }) => {
  for (const says of [{ payload: { task_id: "task-1", status: "input-required" } }, unsupported])
    await hooked(
      ({ tool }) => (tool === "create_media_buy" ? { payload: question } : says),
      async (parts) => {
        await parts.made.buyer.tools.create_media_buy(order);
        const buyer = successor(parts, intents);
        const [again] = await buyer.resume();
        assert.is(again?.answer.status, "input-required");
        assert.is((again!.answer.data as JsonObject).reason, "which?");
        await buyer.unfinished.drop(again!.idempotencyKey as string);
        await buyer.close();
      },
      { buyer: { intents } },
    );
});

const told = (operationId: string | undefined, status: string, second: number): JsonObject =>
  envelope({ operation_id: operationId, status, timestamp: at(second), result: { reason: "which?" } }) as JsonObject;

test("a question that only a webhook told outlives a crash before it was answered", ({ intents }) =>
  hooked(
    ({ tool, args }) =>
      args.po_number === "7"
        ? { payload: { status: "completed", ...bought } }
        : tool === "create_media_buy"
          ? submitted
          : unsupported,
    async (parts) => {
      const { made, hooks } = parts;
      const called = await made.buyer.tools.create_media_buy(order);
      assert.is(statusOf(await send(hooks, told(called.operationId, "input-required", 1))), "accepted");
      await hooks.receiver.idle();
      assert.is((await called.waitForCompletion()).status, "input-required");
      // Its process dies here.
      const buyer = successor(parts, intents);
      const [again] = await buyer.resume();
      assert.is(again?.answer.status, "input-required");
      assert.is((again!.answer.data as JsonObject).reason, "which?");
      assert.is((await again!.respond({ po_number: "7" })).answer.status, "completed");
      assert.is(made.calls().at(-1)?.args.context_id, "c-1");
      assert.equal(await buyer.unfinished.list(), []);
      await buyer.close();
    },
    { remembers: true, buyer: { intents } },
  ));

test("a question that only a webhook told is not asked again once a webhook has told of the end", ({ intents }) =>
  hooked(
    ({ tool }) => (tool === "create_media_buy" ? submitted : unsupported),
    async (parts) => {
      const { made, hooks } = parts;
      const called = await made.buyer.tools.create_media_buy(order);
      await send(hooks, told(called.operationId, "input-required", 1));
      await hooks.receiver.idle();
      assert.is((await called.waitForCompletion()).status, "input-required");
      await send(hooks, told(called.operationId, "canceled", 2));
      await hooks.receiver.idle();
      const buyer = successor(parts, intents);
      const [again] = await buyer.resume();
      assert.is(again?.answer.status, "submitted");
      const end = await again!.waitForCompletion();
      assert.match(JSON.stringify(end), /TASK_END_UNKNOWN.*"status":"canceled".*"handled":true/);
      await buyer.close();
    },
    { remembers: true, buyer: { intents } },
  ));

test("a question that was answered and is told once more is not given to who waits for what came of the answer", () => {
  let status = "input-required";
  return hooked(
    ({ tool, args }) => {
      if (tool !== "create_media_buy")
        return { payload: { task_id: "task-1", task_type: "create_media_buy", protocol: "media-buy", status } };
      if (args.po_number === "7") status = "submitted";
      return { payload: { status: "submitted", task_id: "task-1", context_id: "c-1" } };
    },
    async ({ made, hooks }) => {
      const called = await made.buyer.tools.create_media_buy(order);
      const tell = async (told: string, second: number): Promise<void> => {
        const { operationId: operation_id } = called;
        const event = { operation_id, status: told, timestamp: at(second), context_id: "c-1", result: {} };
        assert.is(statusOf(await send(hooks, envelope(event))), "accepted");
        await hooks.receiver.idle();
      };
      await tell("input-required", 1);
      assert.is((await called.waitForCompletion()).status, "input-required");
      const answered = await called.respond({ po_number: "7" });
      const before = made.calls().length;
      const waiting = answered.waitForCompletion();
      await until(() => made.calls().length > before, "it is polled");
      // As when its handler has failed, or its process died, and it is handed out again.
      await tell("input-required", 2);
      await Promise.race([waiting, until(() => made.calls().length > before + 1, "its agent is asked")]);
      await tell("canceled", 3);
      assert.is((await waiting).status, "canceled");
    },
    { remembers: true },
  );
});

test.run();
