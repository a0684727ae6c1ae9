/** Agents whose webhooks name a task otherwise than their answers: the operation, which the buyer chose, says which it is. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../runtime/contract/index.js";
import type { Heard, Says } from "../support/agent.js";
import { bought, envelope, send, statusOf } from "../support/receiver.js";
import { until } from "../support/until.js";
import { failing, order } from "./fixtures.js";
import { hooked } from "./hooked.js";

const unsupported = failing({ code: "UNSUPPORTED_FEATURE", message: "no such tool", recovery: "correctable" });
const submitted: Says = { payload: { status: "submitted", task_id: "Task-1" }, state: "working", taskId: "a2a-9" };
/** Polls never tell of the end. */
const working: Says = {
  payload: { task_id: "Task-1", task_type: "create_media_buy", protocol: "media-buy", status: "working" },
};
const answers: Readonly<Record<string, Says>> = { create_media_buy: submitted, get_task_status: working };
const says = ({ tool }: Heard): Says => answers[tool] ?? unsupported;

/** A webhook of the operation, as each agent writes it. */
const written: Readonly<Record<string, (operation: string | undefined) => JsonObject>> = {
  "in other letters": (operation_id) => envelope({ operation_id, status: "completed" }) as JsonObject,
  "by another id": (operation_id) => envelope({ operation_id, task_id: "order-77", status: "completed" }) as JsonObject,
  "as A2A does": (operation_id) => ({
    ...{ kind: "task", id: "a2a-9", contextId: "a2a-context", metadata: { operation_id } },
    status: { state: "completed", timestamp: "2026-04-18T14:00:00Z" },
    artifacts: [{ artifactId: "a", parts: [{ kind: "data", data: { ...bought } }] }],
  }),
};

for (const [how, webhook] of Object.entries(written))
  for (const first of [true, false])
    test(`a task that its webhook names ${how} ${first ? "had ended" : "ends"} for who waits for it`, () =>
      hooked(
        says,
        async ({ made, hooks, seen }) => {
          const called = await made.buyer.tools.create_media_buy(order);
          const tell = async (): Promise<void> => {
            const answer = await send(hooks, webhook(called.operationId));
            assert.is(statusOf(answer), "accepted", answer.body);
            await until(() => seen.length === 1, "its handler has run");
          };
          if (first) await tell();
          const waiting = called.waitForCompletion();
          if (!first) {
            await until(() => made.calls().length > 1, "it is polled");
            await tell();
          }
          const end = await waiting;
          assert.equal([end.status, (end.data as JsonObject).media_buy_id], ["completed", bought.media_buy_id]);
          assert.is(seen.length, 1);
        },
        { remembers: true, kind: how === "as A2A does" ? "a2a 0.3" : "mcp" },
      ));

test.run();
