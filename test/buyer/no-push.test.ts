/** Agents over A2A that send no notifications say so with a code of A2A's own: the call goes without a place for them. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { order } from "./fixtures.js";
import { hooked } from "./hooked.js";

for (const kind of ["a2a 1.0", "a2a 0.3"] as const)
  test(`${kind}: an agent that supports no push notifications is called without, and its task polled`, () =>
    hooked(
      ({ tool, push }) => {
        if (tool !== "create_media_buy")
          return {
            payload: { task_id: "task-1", status: "completed", result: { media_buy_id: "mb-1", packages: [] } },
          };
        if (push !== undefined) return { rpc: { code: -32003, message: "Push Notification is not supported" } };
        return { payload: { status: "submitted", task_id: "task-1" } };
      },
      async ({ made }) => {
        const called = await made.buyer.tools.create_media_buy(order);
        assert.is(called.answer.status, "submitted", JSON.stringify(called.answer));
        assert.equal(
          made.calls().map(({ push }) => push !== undefined),
          [true, false],
        );
        assert.is((await called.waitForCompletion()).status, "completed");
      },
      { kind },
    ));

test.run();
