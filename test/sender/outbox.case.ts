/** What an outbox must do for those who write into it, on every store. */
import * as assert from "uvu/assert";
import type { Sender } from "../../runtime/sender/index.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { drained, HOOK, HOUR, holds, leap, push, reopened, type SenderCase, start, suiteOf } from "./sender-suite.js";

/** Repeated changes. */
function repeatCase(of: SenderCase): void {
  const test = suiteOf(of, "outbox, repeats");
  test("the same change under one dedup key is one event, another one is an error", async ({ sender }) => {
    await sender.tasks.register(start(), { push });
    const working = { status: "working", result: { percentage: 40, total_steps: 2 } } as const;
    const first = await sender.tasks.update("task-1", working, { dedupKey: "a" });
    assert.is(first.keys.length, 1);
    const reordered = { result: { total_steps: 2, percentage: 40 }, status: "working" } as const;
    assert.equal(await sender.tasks.update("task-1", reordered, { dedupKey: "a" }), first);
    for (const other of [{ ...working, message: "m" }, { status: "working" }, { status: "canceled" }] as const) {
      assert.is(await codeOf(() => sender.tasks.update("task-1", other, { dedupKey: "a" })), "dedup_conflict");
    }
    assert.not.equal(await sender.tasks.update("task-1", working, { dedupKey: "b" }), first);
    assert.not.equal(await sender.tasks.update("task-1", working), first);
    // Of another task it is another key; and after the end of the task it is remembered still.
    await sender.tasks.register(start({ taskId: "task-2" }), { push });
    assert.is((await sender.tasks.update("task-2", { status: "canceled" }, { dedupKey: "a" })).keys.length, 1);
    const over = await sender.tasks.update("task-1", { status: "canceled" }, { dedupKey: "end" });
    assert.equal(await sender.tasks.update("task-1", { status: "canceled" }, { dedupKey: "end" }), over);
    assert.is(await codeOf(() => sender.tasks.update("task-1", working, { dedupKey: "" })), "event_invalid");
    assert.is((await sender.outbox.counts()).waiting, 5);
  });

  test("a repeat at the same time, and one whose first try rolled back, is one event as well", async ({ sender }) => {
    await sender.tasks.register(start(), { push });
    const change = { status: "canceled" } as const;
    await of
      .transaction((tx) => {
        const made = sender.tasks.update("task-1", change, { tx, dedupKey: "k" });
        const fail = (): never => {
          throw new Error("application");
        };
        return made instanceof Promise ? made.then(fail) : fail();
      })
      .catch(() => undefined);
    const made = await Promise.all([1, 2, 3].map(() => sender.tasks.update("task-1", change, { dedupKey: "k" })));
    assert.equal(made[1], made[0]);
    assert.equal(made[2], made[0]);
    assert.equal(await sender.outbox.counts(), holds({ waiting: 1 }));
  });

  test.run();
}

/** Endpoints of one host. */
function isolationCase(of: SenderCase): void {
  const test = suiteOf(of, "outbox, isolation");
  test("a failing URL of a host stops no other of that host, and kills nothing that was not attempted", async (context) => {
    const { sender, network } = context;
    const bad = "https://hooks.shared.example/tenant-a";
    network.react = ({ url }) => (url === bad ? 500 : 200);
    const tasks = Array.from({ length: 30 }, (_, at) => `t${at}`);
    for (const taskId of tasks) {
      await sender.tasks.register(start({ taskId: `a-${taskId}`, principal: "a" }), { push: { ...push, url: bad } });
      await sender.tasks.update(`a-${taskId}`, { status: "working" });
    }
    sender.start();
    await until(() => network.sent.length >= 5);
    for (const taskId of tasks) {
      const url = "https://hooks.shared.example/tenant-b";
      await sender.tasks.register(start({ taskId: `b-${taskId}`, principal: "b" }), { push: { ...push, url } });
      await sender.tasks.update(`b-${taskId}`, { status: "working" });
    }
    await until(() => network.sent.filter(({ url }) => url !== bad).length === tasks.length);
    for (let hour = 0; hour < 26; hour++) await leap(context, HOUR);
    assert.ok((await sender.outbox.counts()).dead > 0, "what was attempted a day long is given up");
    const kept = await sender.outbox.list({ limit: 100 });
    assert.ok(kept.length >= tasks.length - 1);
    assert.ok(kept.every(({ state, attempts }) => state !== "dead" || attempts > 0));
    assert.ok(kept.some(({ state }) => state === "waiting" || state === "out"));
    assert.is((await sender.outbox.list({ origin: "https://hooks.shared.example" })).length, kept.length);
    assert.equal(await sender.outbox.list({ origin: "https://hooks.shared.exampl" }), []);
  });

  test.run();
}

/** What is refused and set aside. */
function asideCase(of: SenderCase): void {
  const test = suiteOf(of, "outbox, refusals");
  test("what is no open transaction is refused, and nothing is stored", async ({ sender }) => {
    await sender.tasks.register(start(), { push });
    for (const tx of [{}, { query: async () => ({ rows: [] }) }, () => undefined, null]) {
      const given = { tx: tx as object };
      assert.is(
        await codeOf(async () => sender.tasks.update("task-1", { status: "working" }, given)),
        "transaction_invalid",
      );
      const buy = { mediaBuyId: "mb", principal: "p" };
      assert.is(await codeOf(async () => sender.channels.open(buy, {}, given)), "transaction_invalid");
    }
    assert.equal(await sender.outbox.counts(), holds());
  });

  test.run();
}

/** Two tasks, each with a change. */
async function changed(sender: Sender): Promise<void> {
  for (const taskId of ["bad", "good"]) {
    await sender.tasks.register(start({ taskId }), { push });
    await sender.tasks.update(taskId, { status: "working" });
  }
}

/** What is set aside because it cannot be read. */
function unreadableCase(of: SenderCase): void {
  const test = suiteOf(of, "outbox, unreadable");
  for (const [what, from, to] of [
    ["a reason that is no text", '"type":', '"undeliverable":{},"type":'],
    ["a subject that no database can keep", '"subject":"bad"', '"subject":"\\u0000"'],
    ["a task that none can look for", '"task":"bad"', '"task":"bad\\u0000"'],
  ] as const)
    test(`a row with ${what} is set aside at once; the others go on`, async ({ sender, network }) => {
      await of.corrupt(
        `update adbind_job_bodies set meta = replace(meta, '${from}', '${to}') where meta like '%"bad"%'`,
        () => changed(sender),
      );
      sender.start();
      await until(() => drained(sender));
      assert.equal(
        network.sent.map(({ body }) => body.task_id),
        ["good"],
      );
      const [entry, ...others] = await sender.outbox.list();
      assert.equal(others, []);
      const aside = await sender.outbox.show(entry!.id);
      assert.equal([aside!.state, aside!.attempts], ["refused", 0]);
      assert.match(aside!.error!, "its meta says neither where it goes nor for whom");
    });

  test("a row that cannot be read is set aside with its reason; the others go on", async ({ sender, network }) => {
    await of.corrupt(
      "update adbind_job_bodies set meta = 'nonsense' where job = (select min(id) from adbind_jobs)",
      () => changed(sender),
    );
    sender.start();
    await until(() => drained(sender));
    assert.equal(
      network.sent.map(({ url, body }) => [url, body.task_id]),
      [[HOOK, "good"]],
    );
    const [aside] = await sender.outbox.list();
    assert.equal([aside!.state, aside!.type, aside!.attempts], ["refused", "unreadable", 0]);
    assert.match(aside!.error!, "its meta is no JSON");
    assert.equal(await sender.activity({ principal: "buyer-1", subject: "bad" }), []);
    assert.ok(await sender.outbox.drop(aside!.id));
  });

  test.run();
}

/** What is set aside because what was to be sent is gone. */
function goneCase(of: SenderCase): void {
  const test = suiteOf(of, "outbox, bodies gone");
  test("a row whose body was taken away by hand is set aside, its reason says so, and an operator is told once", async (context) => {
    const lines: { why?: string; message: string }[] = [];
    const note = (about: object, message: string) => void lines.push({ ...about, message });
    const logger = { warn: note, error: note, info: note, debug: note } as never;
    const sender = await reopened(of, context, { logger });
    await of.corrupt("delete from adbind_job_bodies where meta like '%\"bad%'", async () => {
      for (const taskId of ["bad", "bad-2", "good"]) {
        await sender.tasks.register(start({ taskId }), { push });
        await sender.tasks.update(taskId, { status: "working" });
      }
    });
    sender.start();
    await until(() => drained(sender));
    assert.equal(
      context.network.sent.map(({ body }) => body.task_id),
      ["good"],
    );
    const aside = await sender.outbox.list();
    assert.is(aside.length, 2);
    for (const { state, error } of aside) {
      assert.is(state, "refused");
      assert.match(error!, /not in the database any more: its row, or its day's partition, was taken away by hand/);
    }
    const told = lines.filter(({ message }) => /cannot be read; bring it back/.test(message));
    assert.is(told.length, 1);
    assert.match(told[0]!.why!, /was taken away by hand/);
  });

  test.run();
}

export function outboxCase(of: SenderCase): void {
  for (const cases of [repeatCase, isolationCase, asideCase, unreadableCase, goneCase]) cases(of);
}
