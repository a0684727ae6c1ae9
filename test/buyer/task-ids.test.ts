/** Agents that name a task otherwise in a webhook than in the answer to its call: the operation is the same. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../runtime/contract/index.js";
import { bought, envelope, send, statusOf } from "../support/receiver.js";
import { until } from "../support/until.js";
import { failing, order } from "./fixtures.js";
import { hooked } from "./hooked.js";

const unsupported = failing({ code: "UNSUPPORTED_FEATURE", message: "no such tool", recovery: "correctable" });
const submitted = { payload: { status: "submitted", task_id: "task-1" } };
const working = {
  payload: { task_id: "task-1", task_type: "create_media_buy", protocol: "media-buy", status: "working" },
};

test("an end that came before anybody waited is the call's, though its webhook names the task otherwise than the answer", () =>
  hooked(
    ({ tool }) => (tool === "create_media_buy" ? submitted : tool === "get_task_status" ? working : unsupported),
    async ({ made, hooks, seen }) => {
      const called = await made.buyer.tools.create_media_buy(order);
      const result = { ...bought, media_buy_id: "mb-1" };
      const told = { operation_id: called.operationId, task_id: "order-77", status: "completed", result };
      assert.is(statusOf(await send(hooks, envelope(told))), "accepted");
      await until(() => seen.length === 1, "its handler has run");
      const end = await called.waitForCompletion();
      assert.equal([end.status, (end.data as JsonObject).media_buy_id], ["completed", "mb-1"], JSON.stringify(end));
    },
    { remembers: true, buyer: { giveUpMs: 5_000 } },
  ));

test.run();
