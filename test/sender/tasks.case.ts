/** What the task channel of a sender must do, on every store. */

import * as assert from "uvu/assert";
import type { Sender, SenderOptions, TaskStart } from "../../runtime/sender/index.js";
import { memoryReplayStore } from "../../runtime/signing/index.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { type FakeNetwork, NOW, optionsFor, type Sent, verify } from "./fixture.js";
import { drained, HOOK, HOUR, holds, push, type SenderCase, secret, start, suiteOf } from "./sender-suite.js";

/** Comes back when an event that was added later, and is due at once, has been delivered to somebody else. */
async function overtaken(sender: Sender, network: FakeNetwork, taskId: string): Promise<void> {
  const url = "https://other.example/hooks";
  await sender.tasks.register(start({ taskId }), { push: { url, operation_id: taskId } });
  await sender.tasks.update(taskId, { status: "working" });
  await until(() => network.sent.some((sent) => sent.url === url && sent.body.task_id === taskId), taskId);
}

export function taskCase(of: SenderCase): void {
  const test = suiteOf(of, "tasks");

  test("each change of status is one signed event, in order, with what was registered echoed", async (context) => {
    const { sender, network, clock } = context;
    sender.start();
    const echoed = { trace: { z: 1, a: [null, "x"] }, "2": true, "1": false };
    const registered = await sender.tasks.register(start({ context: echoed }), {
      push: { ...push, token: "t".repeat(16) },
    });
    assert.equal(registered, { ok: true, registered: true });
    await sender.tasks.update("task-1", { status: "working", result: { percentage: 40 } });
    await sender.tasks.update("task-1", { status: "input-required", result: { reason: "APPROVAL_REQUIRED" } });
    await sender.tasks.update("task-1", {
      status: "failed",
      message: "no",
      result: { errors: [{ code: "X", message: "y" }] },
    });
    await until(() => drained(sender));
    assert.equal(
      network.sent.map((one) => one.body.status),
      ["working", "input-required", "failed"],
    );
    const replay = memoryReplayStore();
    for (const sent of network.sent) {
      assert.is(sent.url, HOOK);
      assert.ok((await verify(sent, replay)).ok);
      assert.is(JSON.stringify(sent.body.context), JSON.stringify(echoed));
      assert.is(sent.body.operation_id, "op-1");
      assert.is(sent.body.token, "t".repeat(16));
      assert.is(sent.body.domain, "media-buy");
      assert.match(sent.body.idempotency_key, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.is(new TextDecoder().decode(sent.bytes), JSON.stringify(sent.body));
    }
    assert.is(new Set(network.sent.map((one) => one.body.idempotency_key)).size, 3);
    const times = network.sent.map((one) => one.body.timestamp);
    assert.equal(times, [...times].sort());
    assert.is(new Set(times).size, 3);
    assert.is(clock.at, NOW);
  });

  test("a terminal initial response sends nothing, whatever comes after", async ({ sender, network }) => {
    for (const status of ["completed", "failed", "rejected", "canceled"] as const) {
      assert.equal(await sender.tasks.register(start({ status, taskId: status }), { push }), {
        ok: true,
        registered: false,
      });
      assert.equal(await sender.tasks.update(status, { status: "completed", result: {} }), { keys: [] });
    }
    assert.is(network.sent.length, 0);
    assert.equal(await sender.outbox.counts(), holds());
  });

  test("transitions that cannot be are refused and leave nothing", async ({ sender }) => {
    await sender.tasks.register(start(), { push });
    await sender.tasks.register(start(), { push: { url: "https://other.example/x" } });
    await sender.tasks.update("task-1", { status: "canceled" });
    for (const status of ["working", "canceled", "completed", "submitted"] as const) {
      assert.is(await codeOf(() => sender.tasks.update("task-1", { status, result: {} })), "transition_refused");
    }
    assert.equal(await sender.outbox.counts(), holds({ waiting: 1 }));
    assert.is((await sender.outbox.list())[0]!.url, HOOK);
  });

  test("changes asked for at a time are each judged by those before them", async ({ sender }) => {
    const ids = ["a", "b", "c", "d"];
    const registered = ids.map((taskId) => sender.tasks.register(start({ taskId }), { push }));
    const said = (status: "working" | "canceled") => (taskId: string) => sender.tasks.update(taskId, { status });
    const results = await Promise.allSettled([
      ...registered,
      ...["a", "b", "none", "c"].map(said("working")),
      ...["b", "a"].map(said("canceled")),
      // Too late for these two, and no less in time for the others.
      ...["a", "d", "b", "c"].map(said("working")),
    ]);
    assert.equal(
      results.flatMap(({ status }, at) => (status === "rejected" ? [at] : [])),
      [10, 12],
    );
    const keys = results.flatMap((result) =>
      result.status === "fulfilled" && "keys" in result.value ? result.value.keys : [],
    );
    const kept = (await sender.outbox.list({ limit: 50 })).sort((one, other) => one.id - other.id);
    assert.equal(
      kept.map(({ key, subject }) => [key, subject]),
      ["a", "b", "c", "b", "a", "d", "c"].map((subject, at) => [keys[at], subject]),
    );
  });

  test("a result the release does not allow is refused before anything is stored", async ({ sender }) => {
    await sender.tasks.register(start(), { push });
    for (const change of [
      { status: "working", result: { percentage: 400 } },
      { status: "working", result: [] },
      { status: "completed", result: { nonsense: true } },
      { status: "completed" },
      { status: "failed", result: { text: "x".repeat(1_100_000) } },
    ] as const) {
      assert.is(await codeOf(() => sender.tasks.update("task-1", change)), "event_invalid");
    }
    assert.equal(await sender.outbox.counts(), holds());
    assert.is(await codeOf(() => sender.tasks.register(start({ tool: "toString" }), { push })), "event_invalid");
  });

  test("an event exists when the caller's transaction commits, and not when it rolls back", async ({ sender }) => {
    await sender.tasks.register(start(), { push });
    await of
      .transaction((tx) => {
        const made = sender.tasks.update("task-1", { status: "working" }, { tx });
        const fail = (): never => {
          throw new Error("application");
        };
        return made instanceof Promise ? made.then(fail) : fail();
      })
      .catch(() => undefined);
    assert.equal(await sender.outbox.counts(), holds());
    await of.transaction((tx) => sender.tasks.update("task-1", { status: "working" }, { tx }));
    assert.equal(await sender.outbox.counts(), holds({ waiting: 1 }));
  });

  test("both channels fire, each in its own shape", async ({ sender, network }) => {
    sender.start();
    const a2a = { url: "https://buyer.example/a2a", token: "a2a-token-0123456789" };
    await sender.tasks.register(start({ contextId: "ctx" }), { push, a2a });
    await sender.tasks.update("task-1", { status: "working", message: "soon", result: { percentage: 1 } });
    await sender.tasks.update("task-1", { status: "rejected", result: { errors: [{ code: "X", message: "y" }] } });
    await until(() => drained(sender));
    const shaped = network.sent.filter((one) => one.url === a2a.url);
    assert.is(network.sent.length, 4);
    assert.is(
      new Set(network.sent.map((one) => one.body.idempotency_key ?? one.body.metadata.idempotency_key)).size,
      4,
    );
    const [interim, final] = shaped as [Sent, Sent];
    assert.is(interim.headers["x-a2a-notification-token"], a2a.token);
    assert.equal(interim.body.status.message.parts, [
      { kind: "text", text: "soon" },
      { kind: "data", data: { percentage: 1 } },
    ]);
    assert.is(interim.body.taskId, "task-1");
    assert.is(final.body.id, "task-1");
    assert.is(final.body.contextId, "ctx");
    assert.is(final.body.status.state, "rejected");
    assert.equal(final.body.artifacts[0].parts[0].data, { errors: [{ code: "X", message: "y" }] });
    for (const sent of shaped) assert.ok((await verify(sent)).ok);
  });

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
    assert.ok(await sender.outbox.retry(dead!.id));
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

  test("legacy registrations are honoured, warned of, or refused", async (context) => {
    const { network, clock } = context;
    const warnings: string[] = [];
    const strict = await of.open({
      ...(optionsFor(clock, network) as never as SenderOptions),
      onDeprecated: (message) => warnings.push(message),
      refuse: { withoutOperationId: true, syncOnlyTools: true },
    });
    const hmac = { schemes: ["HMAC-SHA256"], credentials: secret };
    const bearer = { schemes: ["Bearer"], credentials: secret };
    const errorOf = async (channels: object, over: Partial<TaskStart> = {}) => {
      const result = await strict.tasks.register(start({ taskId: `t${Math.random()}`, ...over }), {
        push: channels as never,
      });
      return result.ok ? "" : `${result.error.code} ${result.error.field}`;
    };
    const authentication = "push_notification_config.authentication";
    assert.is(await errorOf({ ...push, authentication: hmac }), "");
    assert.is(await errorOf({ ...push, authentication: bearer }), `INVALID_REQUEST ${authentication}`);
    assert.is(await errorOf({ ...push, authentication: bearer }, { tool: "get_products" }), "");
    assert.is(warnings.length, 2);
    for (const [config, field] of [
      [{ ...push, authentication: { schemes: [], credentials: secret } }, `${authentication}.schemes`],
      [{ ...push, authentication: { ...hmac, credentials: "short" } }, `${authentication}.credentials`],
      [{ url: HOOK }, "push_notification_config.operation_id"],
      [{ ...push, url: "http://buyer.example/x" }, "push_notification_config.url"],
      [{ ...push, url: "https://127.0.0.1/x" }, "push_notification_config.url"],
      [{ ...push, token: "short" }, "push_notification_config.token"],
    ] as const) {
      assert.is(await errorOf(config), `INVALID_REQUEST ${field}`);
    }
    assert.is(await errorOf(push, { tool: "list_creatives" }), "INVALID_REQUEST push_notification_config");
    strict.start();
    await strict.tasks.register(start({ taskId: "h" }), { push: { ...push, authentication: hmac } });
    await strict.tasks.update("h", { status: "working" });
    await strict.tasks.register(start({ taskId: "b", tool: "get_products" }), {
      push: { ...push, authentication: bearer },
    });
    await strict.tasks.update("b", { status: "working" });
    await until(() => network.sent.length === 2);
    await strict.stop();
    const byTask = (id: string) => network.sent.find((one) => one.body.task_id === id)!.headers;
    assert.match(byTask("h")["x-proto-signature"] ?? "", /^sha256=[0-9a-f]{64}$/);
    assert.is(byTask("h").signature ?? byTask("h").Signature, undefined);
    assert.is(byTask("b").authorization, `Bearer ${secret}`);
    const shown = JSON.stringify(await strict.outbox.list().catch(() => []));
    assert.not.match(shown, secret);
  });

  test.run();
}

const settledAttempts = async (sender: Sender, count: number): Promise<boolean> => {
  const [entry] = await sender.outbox.list();
  return entry === undefined || (entry.attempts >= count && entry.state !== "out");
};
