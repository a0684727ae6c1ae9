/** A task whose row was changed by hand, on every store. */
import * as assert from "uvu/assert";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { drained, HOOK, push, type SenderCase, start, suiteOf } from "./sender-suite.js";

export function unreadableTaskCase(of: SenderCase): void {
  const test = suiteOf(of, "unreadable tasks");
  for (const details of ["{broken", "null", '{"push":{"url":1}}'])
    test(`a task of which ${details} is kept refuses its changes by a code, and others go on`, async ({
      sender,
      network,
    }) => {
      await sender.tasks.register(start(), { push });
      await sender.tasks.register(start({ taskId: "well" }), { push });
      await of.corrupt(
        `update adbind_sent_tasks set revision = revision + 1, details = '${details}' where task_id = 'task-1'`,
        async () => undefined,
      );
      assert.is(await codeOf(async () => sender.tasks.update("task-1", { status: "working" })), "task_unreadable");
      const a2a = { id: "c", url: "https://buyer.example/a2a" };
      assert.is(await codeOf(async () => sender.tasks.attach(start(), a2a)), "task_unreadable");
      assert.is(await codeOf(async () => sender.tasks.attached("task-1")), "task_unreadable");
      await sender.tasks.update("well", { status: "working" });
      sender.start();
      await until(() => drained(sender));
      assert.equal(
        network.sent.map(({ body }) => body.task_id),
        ["well"],
      );
    });
  test("an endpoint moves beside rows that cannot be read, which are named and stay as they are", async ({
    sender,
  }) => {
    const to = "https://new.example/h";
    for (const taskId of ["broken", "well"]) {
      await sender.tasks.register(start({ taskId }), { push });
      await sender.tasks.update(taskId, { status: "working" });
    }
    for (const resource of ["gone", "there"])
      await sender.channels.subscribe("rights", { resource, principal: "buyer-1" }, { url: HOOK });
    const { endpoint } = (await sender.outbox.endpoints())[0]!;
    await of.corrupt(
      "update adbind_sent_tasks set details = '{broken' where task_id = 'broken'",
      async () => undefined,
    );
    await of.corrupt("update adbind_channels set config = '{broken' where resource = 'gone'", async () => undefined);
    const moved = await sender.outbox.move(endpoint, to);
    assert.equal([moved.registrations, moved.sealed, moved.unreadable.length], [2, 0, 2]);
    assert.ok(moved.unreadable.includes("task broken"), moved.unreadable.join());
    const left = await of.rows(
      "select details as text from adbind_sent_tasks union all select config from adbind_channels",
    );
    assert.is(left.filter(({ text }) => text === "{broken").length, 2);
    const mistyped = await sender.outbox.move("https://nobody.example x.y", to).catch((error) => error.code);
    assert.is(mistyped, "endpoint_unknown");
  });

  test.run();
}
