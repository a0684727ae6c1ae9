/** What of a task's events nobody could take, on every store. */
import * as assert from "uvu/assert";
import type { JsonObject } from "../../runtime/contract/index.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { optionsFor, verify } from "./fixture.js";
import { drained, HOOK, push, type SenderCase, start, suiteOf } from "./sender-suite.js";

export function boundCase(of: SenderCase): void {
  const test = suiteOf(of, "tasks, bounds");
  test("a context larger than an event may be keeps no change of its task from being told", async ({
    sender,
    network,
  }) => {
    sender.start();
    await sender.tasks.register(start({ context: { much: "x".repeat(1_100_000) } }), { push });
    await sender.tasks.register(start({ taskId: "task-2", context: { much: "x".repeat(262_000) } }), { push });
    await sender.tasks.update("task-1", { status: "working" });
    await sender.tasks.update("task-2", { status: "working" });
    await until(() => drained(sender));
    const told = network.sent.map(({ body }) => [body.task_id, body.context !== undefined]);
    assert.equal(told.sort(), [
      ["task-1", false],
      ["task-2", true],
    ]);
  });

  test("what nests deeper than receivers take is refused when it is told, and a context that does keeps no change from being told", async ({
    sender,
    network,
  }) => {
    const nested = (levels: number): JsonObject => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
    const a2a = { url: `${HOOK}/a2a` };
    sender.start();
    for (const levels of [254, 255, 3_000])
      await sender.tasks.register(start({ taskId: `task-${levels}`, context: nested(levels) }), { push, a2a });
    for (const levels of [254, 255, 3_000]) await sender.tasks.update(`task-${levels}`, { status: "working" });
    const change = (levels: number) =>
      codeOf(async () => sender.tasks.update("task-3000", { status: "working", result: { data: nested(levels) } }));
    assert.equal([await change(250), await change(251)], ["nothing thrown", "event_invalid"]);
    await until(() => drained(sender));
    const told = network.sent.map(({ body }) => [
      body.task_id ?? body.taskId,
      (body.context ?? body.metadata?.context) !== undefined,
    ]);
    const both = (id: string, has: boolean, times: number) => Array.from({ length: times }, () => [id, has]);
    assert.equal(told.sort(), [
      ...both("task-254", true, 2),
      ...both("task-255", false, 2),
      ...both("task-3000", false, 4),
    ]);
    for (const sent of network.sent) assert.ok((await verify(sent)).ok);
  });

  test("a number of events that may wait, or a window, that cannot be one opens no sender", async ({
    clock,
    network,
  }) => {
    const opening = (options: object) => codeOf(() => of.open({ ...optionsFor(clock, network), ...options } as never));
    // Such as `Number("")` and `Number(undefined)`: all that waits would expire unsent, each impairment fail its caller.
    for (const maxWaiting of [0, -1, Number.NaN, 1.5, ""])
      assert.is(await opening({ maxWaiting }), "sender_option_invalid", `maxWaiting ${maxWaiting}`);
    for (const impairment of [-1, Number.NaN, "500"])
      assert.is(await opening({ coalescence: { impairment } }), "sender_option_invalid", `a window of ${impairment}`);
  });

  test.run();
}
