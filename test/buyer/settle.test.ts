/** Tasks of an agent that cannot be asked: their webhooks are all there is. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createTaskEndings } from "../../runtime/buyer/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import type { Delivery } from "../../runtime/receiver/index.js";
import { bought, envelope, PUBLIC_URL, SELLER, send, setup } from "../support/receiver.js";
import { failing, order, scene } from "./fixtures.js";

const answer = ({ tool }: { tool: string }) =>
  tool === "create_media_buy"
    ? { payload: { status: "submitted", task_id: "task-1" } }
    : failing({ code: "UNSUPPORTED_FEATURE", message: "no such tool", recovery: "correctable" });

async function settledBy(how: "handlers" | "inbox"): Promise<void> {
  const endings = createTaskEndings();
  const fallback = (_: Delivery): void => {
    if (how === "inbox") throw new Error("the handler is not ready");
  };
  const hooks = await setup({ handlers: how === "handlers" ? endings.through({ fallback }) : { fallback } });
  const webhooks = { receiver: hooks.receiver, url: `${PUBLIC_URL}/hooks/a`, sender: SELLER, endings };
  const made = await scene({ answer, buyer: { webhooks } });
  try {
    const called = await made.buyer.tools.create_media_buy(order);
    assert.is(made.calls()[0]?.push?.operation_id, called.operationId);
    const settled = called.settled();
    const result = { ...bought, media_buy_id: "mb1" };
    const sent = await send(hooks, envelope({ operation_id: called.operationId, status: "completed", result }));
    assert.is(sent.status, 200);
    const end = await settled;
    assert.equal([end.status, (end.data as JsonObject).media_buy_id], ["completed", "mb1"]);
  } finally {
    await made.close();
    await hooks.close();
  }
}

test("a webhook that a handler of this process had settles its task", () => settledBy("handlers"));
test("a webhook that is still in the inbox settles its task", () => settledBy("inbox"));

test("a submitted answer without a task is a failure that says so, and its webhook is still expected", async () => {
  const told = Promise.withResolvers<Delivery>();
  const handlers = { fallback: (delivery: Delivery) => told.resolve(delivery) };
  const hooks = await setup({ handlers });
  const webhooks = { receiver: hooks.receiver, url: `${PUBLIC_URL}/hooks/a`, sender: SELLER };
  const made = await scene({ answer: () => ({ payload: { status: "submitted" } }), buyer: { webhooks } });
  try {
    const called = await made.buyer.tools.create_media_buy(order);
    assert.equal([called.answer.status, called.recovery, called.attempts], ["failed", "terminal", 1]);
    assert.is((called.answer.data as { errors: JsonObject[] }).errors[0]?.code, "TASK_ID_MISSING");
    assert.equal((called.answer.data as { raw: unknown }).raw, { status: "submitted" });
    assert.is((await called.settled()).status, "failed");
    const sent = await send(hooks, envelope({ operation_id: called.operationId, status: "working", result: {} }));
    assert.is(sent.status, 200);
    assert.is((await told.promise).operationId, called.operationId);
  } finally {
    await made.close();
    await hooks.close();
  }
});

test("an end is remembered by sender and task, and nothing else is", () => {
  const endings = createTaskEndings();
  const seen: unknown[] = [];
  const { fallback, tools } = endings.through({
    fallback: (delivery: object) => void seen.push(delivery),
    tools: { a: { completed: (_data: object, _answer: object, delivery: object) => void seen.push(delivery) } },
  });
  const delivery = (taskId: string, status: string, kind = "task") => ({ sender: "s", kind, taskId, body: { status } });
  fallback(delivery("t1", "working"));
  fallback(delivery("t2", "failed"));
  fallback(delivery("t3", "completed", "report"));
  tools.a.completed({}, {}, delivery("t4", "completed"));
  assert.is(seen.length, 4);
  const found = ["t1", "t2", "t3", "t4"].map((id) => endings.find("s", id) !== undefined);
  assert.equal(found, [false, true, false, true]);
  assert.is(endings.find("other", "t2"), undefined);
  for (let at = 0; at < 1_001; at++) fallback(delivery(`n${at}`, "completed"));
  assert.is(endings.find("s", "t2"), undefined, "the oldest are let go");
});

test.run();
