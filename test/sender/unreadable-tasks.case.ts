/** A task whose row was changed by hand, on every store. */
import * as assert from "uvu/assert";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { drained, push, type SenderCase, start, suiteOf } from "./sender-suite.js";

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
  test.run();
}
