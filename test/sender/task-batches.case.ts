/** What many changes of tasks at once must do, and what a task that is forgotten leaves, on every store. */
import * as assert from "uvu/assert";
import type { TaskUpdate } from "../../runtime/sender/index.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { drained, holds, push, type SenderCase, start, suiteOf } from "./sender-suite.js";

const changes: readonly TaskUpdate[] = [
  { taskId: "a", status: "working", result: { percentage: 1 } },
  { taskId: "none", status: "working" },
  { taskId: "b", status: "working", dedupKey: "b1" },
  { taskId: "a", status: "working", result: { percentage: 2 } },
  { taskId: "b", status: "canceled", dedupKey: "b2" },
];

function forgetting(test: ReturnType<typeof suiteOf>): void {
  test("a task is forgotten by its principal alone, and its id tells of another one then", async ({
    sender,
    network,
  }) => {
    await sender.tasks.register(start(), { push });
    await sender.tasks.update("task-1", { status: "canceled" }, { dedupKey: "end" });
    await sender.tasks.forget("task-1", "somebody else");
    assert.is(await codeOf(async () => sender.tasks.update("task-1", { status: "working" })), "transition_refused");
    await sender.tasks.forget("task-1", start().principal);
    assert.equal(await sender.tasks.update("task-1", { status: "working" }), { keys: [] });
    for (const { id } of await sender.outbox.list({ task: "task-1" })) await sender.outbox.drop(id);
    await sender.tasks.register(start(), { push: { ...push, operation_id: "op-2" } });
    await sender.tasks.update("task-1", { status: "canceled" }, { dedupKey: "end" });
    sender.start();
    await until(() => drained(sender));
    assert.equal(
      network.sent.map(({ body }) => [body.status, body.operation_id]),
      [["canceled", "op-2"]],
    );
  });
}

function contents(test: ReturnType<typeof suiteOf>): void {
  test("a dedup key refuses no content that goes without one, and what is no JSON is refused by name", async (context) => {
    const { sender, network } = context;
    await sender.tasks.register(start({ taskId: "a" }), { push });
    // As a text is that was cut within a character.
    const cut = { status: "working", message: "half \ud83d" } as const;
    const { keys } = await sender.tasks.update("a", cut, { dedupKey: "cut" });
    assert.equal(await sender.tasks.update("a", cut, { dedupKey: "cut" }), { keys });
    const other = { ...cut, message: "half \ud83c" };
    assert.is(await codeOf(async () => sender.tasks.update("a", other, { dedupKey: "cut" })), "dedup_conflict");
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    for (const result of [circle, { many: 1n }])
      for (const options of [{}, { dedupKey: "no JSON" }]) {
        const refused = async () => sender.tasks.update("a", { status: "working", result }, options);
        assert.is(await codeOf(refused), "event_invalid");
      }
    sender.start();
    await until(() => drained(sender));
    assert.equal(
      network.sent.map(({ body }) => body.message),
      [cut.message],
    );
  });
}

export function taskBatchesCase(of: SenderCase): void {
  const test = suiteOf(of, "changes at once");
  contents(test);
  forgetting(test);

  test("each is judged by those before it, and they go out in their order", async ({ sender, network }) => {
    for (const taskId of ["a", "b"]) await sender.tasks.register(start({ taskId }), { push });
    const made = await sender.tasks.updateAll(changes);
    assert.equal(
      made.map(({ keys }) => keys.length),
      [1, 0, 1, 1, 1],
    );
    // Repeated under their keys, these are the same events.
    assert.equal(await sender.tasks.updateAll([changes[2]!, changes[4]!]), [made[2], made[4]]);
    assert.equal(await sender.tasks.updateAll([]), []);
    assert.equal(await sender.outbox.counts(), holds({ waiting: 4 }));
    sender.start();
    await until(() => drained(sender));
    const sent = (taskId: string) =>
      network.sent.filter(({ body }) => body.task_id === taskId).map(({ body }) => body.idempotency_key);
    assert.equal(sent("a"), [made[0]!.keys[0], made[3]!.keys[0]]);
    assert.equal(sent("b"), [made[2]!.keys[0], made[4]!.keys[0]]);
    const times = network.sent.filter(({ body }) => body.task_id === "a").map(({ body }) => body.timestamp);
    assert.ok(times[0] < times[1]);
  });

  test("all changes are stored or none, in the caller's transaction too", async ({ sender }) => {
    for (const taskId of ["a", "b"]) await sender.tasks.register(start({ taskId }), { push });
    const wrong = [...changes, { taskId: "b", status: "working" } as const];
    assert.is(await codeOf(() => sender.tasks.updateAll(wrong)), "transition_refused");
    assert.equal(await sender.outbox.counts(), holds());
    // Where the engine waits for nothing, a fault is thrown at once.
    assert.is(await codeOf(() => of.transaction((tx) => sender.tasks.updateAll(wrong, { tx }))), "transition_refused");
    assert.equal(await sender.outbox.counts(), holds());
    await of.transaction((tx) => sender.tasks.updateAll(changes, { tx }));
    assert.equal(await sender.outbox.counts(), holds({ waiting: 4 }));
    assert.is(await codeOf(() => sender.tasks.update("b", { status: "working" })), "transition_refused");
  });

  test("what a transaction undid is not what the next change is made from", async ({ sender }) => {
    await sender.tasks.register(start({ taskId: "a" }), { push });
    await of
      .transaction((tx) => {
        const fail = (): never => {
          throw new Error("application");
        };
        const made = sender.tasks.updateAll([{ taskId: "a", status: "canceled" }], { tx });
        return made instanceof Promise ? made.then(fail) : fail();
      })
      .catch(() => undefined);
    await sender.tasks.update("a", { status: "working" });
    assert.equal(await sender.outbox.counts(), holds({ waiting: 1 }));
  });

  test.run();
}
