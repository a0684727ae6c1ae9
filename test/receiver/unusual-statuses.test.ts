/** Ends that tell nothing, and statuses that published enumerations have beside a task's own. */
import * as assert from "uvu/assert";
import { createCompletions } from "../../runtime/buyer/index.js";
import { at, bought, envelope, errorOf, receiverSuite, SELLER, send, statusOf } from "../support/receiver.js";

const test = receiverSuite("unusual statuses");

const nothing = (): void => undefined;
const others = {
  ...{ submitted: nothing, working: nothing, "input-required": nothing },
  ...{ failed: nothing, canceled: nothing, rejected: nothing },
};

test("an end as completed that has no result ends nothing, and the one that has it is applied", async ({ open }) => {
  const told: unknown[] = [];
  const s = await open({
    handlers: { tools: { create_media_buy: { ...others, completed: (data) => void told.push(data) } } },
  });
  const empty = await send(s, envelope({ status: "completed", result: undefined }));
  assert.equal([empty.status, errorOf(empty)], [400, "result_invalid"]);
  const pushed = { id: "a-1", status: { state: "TASK_STATE_COMPLETED", timestamp: at(1) } };
  const bare = await send(s, pushed, { route: "/hooks/a2a" });
  assert.equal([bare.status, errorOf(bare)], [400, "result_invalid"]);
  assert.is(statusOf(await send(s, envelope({ status: "completed", timestamp: at(2) }))), "accepted");
  const whole = { ...pushed, artifacts: [{ parts: [{ data: bought }] }] };
  assert.is(statusOf(await send(s, whole, { route: "/hooks/a2a" })), "accepted");
  await s.receiver.idle();
  assert.equal(told, [bought, bought]);
  assert.is((await s.store.inbox.list({ state: "dead" })).length, 2, "a human has the others");
});

test("an end whose result does not fit has its task asked for at once", async ({ open }) => {
  const s = await open();
  const poll = async () => ({ status: "completed" as const, timestamp: at(0), result: bought });
  const task = { sender: SELLER, taskId: "task-1", taskType: "create_media_buy", operationId: "op-1" };
  const alive = setInterval(() => undefined, 1_000);
  const watched = s.receiver.watchTask({ ...task, poll, signal: AbortSignal.timeout(20_000) });
  await send(s, envelope({ status: "completed", result: { packages: "none" } }));
  assert.equal(await watched, { status: "completed" });
  clearInterval(alive);
});

test("an end that needs no result ends its task without one", async ({ open }) => {
  const s = await open();
  assert.is(statusOf(await send(s, envelope({ status: "canceled", result: undefined }))), "accepted");
  assert.is((await s.store.task(SELLER, "task-1"))?.terminal, true);
});

test("a task that waits for a login asks something, and one whose state is not known is told of and decides nothing", async ({
  open,
}) => {
  const completions = createCompletions();
  const seen: (string | null)[] = [];
  const s = await open({ handlers: completions.through({ fallback: ({ status }) => void seen.push(status) }) });
  const find = () => completions.find({ sender: SELLER, taskId: "task-1" });
  assert.is(statusOf(await send(s, envelope({ status: "auth-required", timestamp: at(1) }))), "accepted");
  await s.receiver.idle();
  assert.ok(find() !== undefined, "whoever waits is asked");
  assert.is(statusOf(await send(s, envelope({ status: "unknown", timestamp: at(3) }))), "accepted");
  assert.is(statusOf(await send(s, envelope({ timestamp: at(2) }))), "accepted");
  assert.is(statusOf(await send(s, envelope({ status: "auth-required", timestamp: at(1) }))), "stale");
  await s.receiver.idle();
  assert.equal(seen, ["auth-required", "unknown", "working"]);
  assert.is(find(), undefined, "it has gone on");
});

test.run();
