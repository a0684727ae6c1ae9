/** Task ids that a sender gives twice. */
import * as assert from "uvu/assert";
import { at, envelope, receiverSuite, SELLER, send, statusOf } from "../support/receiver.js";

const test = receiverSuite("task ids");

test("a task id that its seller uses again for another call is another task, to webhooks and to whoever watches", async ({
  open,
}) => {
  const s = await open({ pollMs: 20 });
  const task = { sender: SELLER, taskId: "task-1", taskType: "create_media_buy" };
  await s.receiver.expect({ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "op-2" });
  await s.receiver.expect({ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "op-3" });
  assert.is(statusOf(await send(s, envelope({ status: "completed" }))), "accepted");
  const alive = setInterval(() => undefined, 1_000);
  const unasked = () => assert.unreachable() as never;
  const second = s.receiver.watchTask({ ...task, operationId: "op-2", poll: unasked });
  const of = { operation_id: "op-2" };
  assert.is(statusOf(await send(s, envelope({ ...of, timestamp: at(1) }))), "accepted");
  assert.is(statusOf(await send(s, envelope({ ...of, status: "failed", timestamp: at(2), result: {} }))), "accepted");
  assert.equal(await second, { status: "failed" });
  assert.equal(await s.receiver.watchTask({ ...task, operationId: "op-1", poll: unasked }), { status: "completed" });
  const poll = async () => ({ status: "completed" as const, result: { media_buy_id: "m" } });
  const third = { ...task, operationId: "op-3", firstMs: 0, poll };
  assert.equal(await s.receiver.watchTask(third), { status: "completed" });
  clearInterval(alive);
  assert.is(
    statusOf(await send(s, envelope({ ...of, status: "completed", timestamp: at(3) }))),
    "stale",
    "it has ended",
  );
  await s.receiver.idle();
  const told = s.seen.map(({ operationId, status }) => `${operationId} ${status}`);
  assert.equal(told, ["op-1 completed", "op-2 working", "op-2 failed", "op-3 completed"]);
});

test.run();
