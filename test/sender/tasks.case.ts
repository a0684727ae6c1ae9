/** What the task channel of a sender must do, on every store. */

import * as assert from "uvu/assert";
import type { Sender, SenderOptions, TaskStart } from "../../runtime/sender/index.js";
import { memoryReplayStore, verifyStandardWebhook } from "../../runtime/signing/index.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { NOW, optionsFor, type Sent, verify } from "./fixture.js";
import { standard } from "./registered-secrets.js";
import { drained, HOOK, HOUR, holds, push, reopened, type SenderCase, secret, start, suiteOf } from "./sender-suite.js";

type Case = ReturnType<typeof suiteOf>;

/** What a change of status sends. */
function changes(test: Case): void {
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
}

/** Changes that send nothing. */
function refusals(test: Case): void {
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
}

/** Changes at the same time, and in a transaction. */
function together(test: Case, of: SenderCase): void {
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
}

/** The channels of one task. */
function shapes(test: Case): void {
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
}

/** Secrets of Standard Webhooks. */
function standardWebhooks(test: Case, of: SenderCase): void {
  test("Standard Webhooks are sent where both sides agreed on it, with one id at every attempt, and never by default", async (context) => {
    const { network, clock, sender } = context;
    const { credentials, schemes } = standard("agreed");
    const config = (secret = credentials) => ({ push: { ...push, authentication: { schemes, credentials: secret } } });
    const fieldOf = (result: Awaited<ReturnType<Sender["tasks"]["register"]>>) => (result.ok ? "" : result.error.field);
    const field = "push_notification_config.authentication";
    assert.is(fieldOf(await sender.tasks.register(start(), config())), `${field}.schemes`);
    const agreed = await reopened(of, context, { refuse: { standardWebhooks: false } });
    for (const weak of ["whsec_", credentials.slice("whsec_".length), `whsec_${"A".repeat(32)}`]) {
      assert.is(fieldOf(await agreed.tasks.register(start(), config(weak))), `${field}.credentials`);
    }
    assert.ok((await agreed.tasks.register(start(), config())).ok);
    const answers = [500];
    network.react = () => answers.shift() ?? 200;
    const { keys } = await agreed.tasks.update("task-1", { status: "working" });
    agreed.start();
    await until(async () => (await agreed.outbox.list())[0]?.attempts === 1);
    clock.at += HOUR;
    await until(() => drained(agreed));
    assert.is(network.sent.length, 2);
    for (const { headers, bytes, at } of network.sent) {
      const now = () => Math.floor(at / 1_000);
      assert.ok((await verifyStandardWebhook({ headers, body: bytes }, { secrets: { current: credentials }, now })).ok);
      assert.equal([headers["webhook-id"], headers["signature-input"]], [keys[0], undefined]);
    }
  });
}

/** Registrations of before there were signatures. */
function legacy(test: Case, of: SenderCase): void {
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
      [{ ...push, authentication: { schemes: ["HMAC-SHA256"] } }, `${authentication}.credentials`],
      [{ ...push, authentication: { ...hmac, credentials: `${secret}\ud800` } }, `${authentication}.credentials`],
      [{ ...push, operation_id: "op\0" }, "push_notification_config.operation_id"],
      [{ url: HOOK }, "push_notification_config.operation_id"],
      [{ ...push, url: "http://buyer.example/x" }, "push_notification_config.url"],
      [{ ...push, url: "https://127.0.0.1/x" }, "push_notification_config.url"],
      [{ ...push, url: "https://buyer.example/100%/x" }, "push_notification_config.url"],
      [{ ...push, url: "https://buyer-.example/x" }, "push_notification_config.url"],
      [{ ...push, url: "https://xn--a.example/x" }, "push_notification_config.url"],
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
}

export function taskCase(of: SenderCase): void {
  const test = suiteOf(of, "tasks");
  for (const some of [changes, refusals, together, shapes, standardWebhooks, legacy]) some(test, of);
  test.run();
}
