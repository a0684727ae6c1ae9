/** How an event of a task is tried, and tried again, on every store. */
import * as assert from "uvu/assert";
import type { Sender } from "../../runtime/sender/index.js";
import { memoryReplayStore } from "../../runtime/signing/index.js";
import { until } from "../support/until.js";
import { type FakeNetwork, NOW, verify } from "./fixture.js";
import { drained, HOUR, holds, push, type SenderCase, start, suiteOf } from "./sender-suite.js";

/** Comes back when an event that was added later, and is due at once, has been delivered to somebody else. */
async function overtaken(sender: Sender, network: FakeNetwork, taskId: string): Promise<void> {
  const url = "https://other.example/hooks";
  await sender.tasks.register(start({ taskId }), { push: { url, operation_id: taskId } });
  await sender.tasks.update(taskId, { status: "working" });
  await until(() => network.sent.some((sent) => sent.url === url && sent.body.task_id === taskId), taskId);
}

const settledAttempts = async (sender: Sender, count: number): Promise<boolean> => {
  const [entry] = await sender.outbox.list();
  return entry === undefined || (entry.attempts >= count && entry.state !== "out");
};

function retryCase(of: SenderCase): void {
  const test = suiteOf(of, "attempts");

  test("a failed delivery is tried on schedule, signed afresh over the same bytes", async (context) => {
    const { sender, network, clock } = context;
    const answers = [503, 401, 302, 404, { status: 200 }];
    const own = () => network.sent.filter(({ url }) => url === push.url);
    network.react = ({ url }) => (url === push.url ? answers[own().length - 1]! : 200);
    sender.start();
    await sender.tasks.register(start(), { push });
    await sender.tasks.update("task-1", { status: "working" });
    for (const [count, delay] of [1_000, 2_000, 4_000, 8_000].entries()) {
      await until(() => settledAttempts(sender, count + 1));
      clock.at += delay - 1;
      await overtaken(sender, network, `marker-${count}`);
      assert.is(own().length, count + 1);
      clock.at += 1;
      await until(() => own().length === count + 2);
    }
    await until(() => drained(sender));
    const replay = memoryReplayStore();
    for (const sent of own()) {
      assert.ok(Buffer.from(sent.bytes).equals(Buffer.from(own()[0]!.bytes)));
      assert.ok((await verify(sent, replay)).ok, "a nonce was used twice");
    }
    const activity = await sender.activity({ principal: "buyer-1", subject: "task-1" });
    assert.equal(
      activity.map((one) => [one.attempt, one.status, one.http_status_code]),
      [
        [5, "success", 200],
        [4, "failed", 404],
        [3, "failed", 302],
        [2, "failed", 401],
        [1, "failed", 503],
      ],
    );
    assert.equal(await sender.activity({ principal: "somebody-else", subject: "task-1" }), []);
  });

  test("Retry-After is honoured, up to an hour", async ({ sender, network, clock }) => {
    network.react = () => (network.sent.length === 1 ? { status: 429, headers: { "retry-after": "99999" } } : 200);
    sender.start();
    await sender.tasks.register(start(), { push });
    await sender.tasks.update("task-1", { status: "working" });
    await until(() => settledAttempts(sender, 1));
    assert.is((await sender.outbox.list())[0]!.due, NOW + HOUR);
    clock.at += HOUR;
    await until(() => drained(sender));
    assert.is(network.sent.length, 2);
  });

  test.run();
}

/** The end of an event, and the order of first attempts. */
function endCase(of: SenderCase): void {
  const test = suiteOf(of, "attempts, ends");
  test("after a day there is exactly one dead letter, which can be given another day or dropped", async (context) => {
    const { sender, network, clock } = context;
    network.react = () => ({ ok: false, code: "connect_failed", retryable: true, detail: "x" });
    sender.start();
    await sender.tasks.register(start(), { push });
    await sender.tasks.update("task-1", { status: "working" });
    let last = 0;
    for (let step = 0; step < 200 && (await sender.outbox.counts()).dead === 0; step++) {
      await until(async () => (await sender.outbox.counts()).dead > 0 || (await settledAttempts(sender, last + 1)));
      last = network.sent.length;
      const [entry] = await sender.outbox.list();
      if (entry!.state !== "dead") clock.at = Math.max(clock.at, entry!.due!) + 60_000;
    }
    const [dead] = await sender.outbox.list({ state: "dead" });
    assert.is(dead!.state, "dead");
    const ends = network.sent.map((one) => one.at - NOW);
    assert.ok(ends.at(-1)! >= 24 * HOUR && ends.at(-1)! < 24 * HOUR + 120_000, String(ends.at(-1)));
    assert.ok(ends.at(-2)! < 24 * HOUR);
    network.react = () => 200;
    clock.at += 120_000;
    assert.ok(await sender.outbox.replay(dead!.id));
    await until(() => drained(sender));
    assert.is(network.sent.at(-1)!.body.idempotency_key, network.sent[0]!.body.idempotency_key);
    assert.equal(await sender.outbox.counts(), holds());
  });

  test("no event is attempted before the one before it of its task was", async ({ sender, network }) => {
    const held: (() => void)[] = [];
    network.react = async (sent) => {
      if (sent.url !== push.url) return 200;
      if (sent.body.status === "working") await new Promise<void>((resolve) => held.push(resolve));
      return sent.body.status === "working" ? 500 : 200;
    };
    sender.start();
    await sender.tasks.register(start(), { push });
    await sender.tasks.update("task-1", { status: "working" });
    await until(() => held.length === 1);
    await sender.tasks.update("task-1", { status: "canceled" });
    await overtaken(sender, network, "marker");
    assert.is(network.sent.filter(({ url }) => url === push.url).length, 1);
    assert.is((await sender.activity({ principal: "buyer-1", subject: "task-1" }))[0]!.status, "pending");
    held[0]!();
    await until(() => network.sent.length === 3);
    assert.is(network.sent[2]!.body.status, "canceled");
  });

  test.run();
}

export function attemptCase(of: SenderCase): void {
  for (const cases of [retryCase, endCase]) cases(of);
}
