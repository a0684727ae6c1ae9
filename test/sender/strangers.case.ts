/** What a sender owes principals that do not know each other, on every store. */
import { generateKeyPairSync, sign } from "node:crypto";
import * as assert from "uvu/assert";
import type { Signer } from "../../runtime/sender/index.js";
import { until } from "../support/until.js";
import { NOW } from "./fixture.js";
import {
  codeIn,
  drained,
  HOOK,
  HOUR,
  holds,
  leap,
  noneOut,
  push,
  reopened,
  type SenderCase,
  secret,
  start,
  suiteOf,
} from "./sender-suite.js";

const change = { event: "property_list_changed", list_id: "l", resolved_at: "2026-04-18T14:00:00Z", signature: "s" };
const remoteKey = generateKeyPairSync("ed25519");

/** Whose is what. */
function ownershipCase(of: SenderCase): void {
  const test = suiteOf(of, "strangers, whose is what");
  test("a task, or a media buy, of another principal is refused and stays its owner's", async ({ sender, network }) => {
    const theirs = "https://other.example/h";
    const both = await Promise.all([
      sender.tasks.register(start({ principal: "a" }), { push }),
      sender.tasks.register(start({ principal: "b" }), { push: { url: theirs, operation_id: "x" } }),
    ]);
    assert.equal(both.map(codeIn), ["", "CONFLICT"]);
    assert.is(codeIn(await sender.tasks.register(start({ principal: "b" }), { push: { url: theirs } })), "CONFLICT");
    assert.equal(await sender.tasks.register(start({ principal: "a" }), { push }), { ok: true, registered: true });
    const a2a = { url: theirs };
    assert.is(codeIn(await sender.tasks.attach(start({ principal: "b" }), a2a)), "REFERENCE_NOT_FOUND");
    assert.is(codeIn(await sender.tasks.attach(start({ principal: "b" }), null)), "REFERENCE_NOT_FOUND");
    assert.equal(await sender.channels.open({ mediaBuyId: "mb", principal: "a" }, { events: push }), { ok: true });
    const taken = await sender.channels.open({ mediaBuyId: "mb", principal: "b" }, { events: { url: theirs } });
    assert.is(codeIn(taken), "MEDIA_BUY_NOT_FOUND");
    assert.is(
      codeIn(await sender.channels.open({ mediaBuyId: "mb", principal: "b" }, { events: null })),
      "MEDIA_BUY_NOT_FOUND",
    );
    sender.start();
    await sender.tasks.update("task-1", { status: "working" });
    await sender.channels.impairment("mb", { notificationId: "i", eventType: "fraud", impairment: {} });
    await until(() => network.sent.length === 2);
    assert.ok(network.sent.every(({ url }) => url === HOOK));
  });

  test("every subscriber of a list is told, each with a key of its own, and none waits for another", async (context) => {
    const { sender, network } = context;
    const url = (name: string): string => `https://${name}.example/h`;
    for (const principal of ["a", "b", "c"]) {
      await sender.channels.subscribe("list_change", { resource: "l", principal }, { url: url(principal) });
    }
    await sender.channels.subscribe("list_change", { resource: "l", principal: "c" }, null);
    const hanging = Promise.withResolvers<number>();
    network.react = ({ url: to }) => (to === url("a") ? hanging.promise : 200);
    sender.start();
    const made = await sender.channels.notify("list_change", "l", change);
    await sender.channels.notify("list_change", "l", change);
    assert.is(new Set(made.keys).size, 2);
    await until(() => network.sent.filter((one) => one.url === url("b")).length === 2);
    assert.is(network.sent.filter((one) => one.url === url("a")).length, 1);
    assert.not.ok(network.sent.some((one) => one.url === url("c")));
    hanging.resolve(200);
  });

  test.run();
}

/** Where things go, asked at each attempt. */
function targetCase(of: SenderCase): void {
  const test = suiteOf(of, "strangers, targets");
  test("what is queued follows a moved endpoint and a rotated secret of the same owner", async (context) => {
    const { sender, network, clock } = context;
    const buy = { mediaBuyId: "mb", principal: "a" };
    const bearer = (credentials: string) => ({ authentication: { schemes: ["Bearer"], credentials } });
    const rotated = `${secret}2`;
    network.react = ({ headers }) => (headers.authorization === `Bearer ${rotated}` ? 200 : 401);
    await sender.channels.open(buy, { events: { ...push, ...bearer(secret) } });
    sender.start();
    await sender.channels.impairment("mb", { notificationId: "i", eventType: "fraud", impairment: {} });
    await until(async () => (await sender.outbox.list())[0]?.attempts === 1);
    assert.not.match(JSON.stringify(await sender.outbox.list()), secret);
    await sender.channels.open(buy, { events: { url: "https://moved.example/h", ...bearer(rotated) } });
    clock.at += 2_000;
    await until(() => drained(sender));
    assert.equal(
      network.sent.map(({ url, headers }) => [url, headers.authorization]),
      [
        [HOOK, `Bearer ${secret}`],
        ["https://moved.example/h", `Bearer ${rotated}`],
      ],
    );
    const [last] = await sender.activity({ principal: "a", subject: "mb" });
    assert.is(last!.url, "https://moved.example/h");
  });

  test("what has no channel any more, or a new owner's, is set aside with the reason; nothing is sent", async (context) => {
    await of.corrupt("update adbind_sent_tasks set principal = 'b' where task_id = 'moved'", async () => {
      for (const taskId of ["moved", "kept", "closed"]) {
        const a2a = { url: HOOK };
        await context.sender.tasks.register(start({ taskId, principal: "a" }), taskId === "kept" ? { push } : { a2a });
        await context.sender.tasks.update(taskId, { status: "working" });
      }
      await context.sender.tasks.attach(start({ taskId: "closed", principal: "a" }), null);
    });
    const { sender, network } = context;
    sender.start();
    await until(() => drained(sender));
    assert.equal(
      network.sent.map(({ body }) => body.task_id),
      ["kept"],
    );
    assert.equal(await sender.outbox.counts(), holds({ refused: 2 }));
    const reasons = (await sender.outbox.list()).map(({ subject, error, attempts }) => [subject, error, attempts]);
    assert.equal(reasons, [
      ["moved", "its registration belongs to another principal now", 0],
      ["closed", "its channel was closed", 0],
    ]);
  });

  test.run();
}

/** Endpoints that refuse, ask for time, or are slow. */
function breakerCase(of: SenderCase): void {
  const test = suiteOf(of, "strangers, endpoints");
  for (const status of [301, 401, 404, 410, 503]) {
    test(`an endpoint that answers ${status} costs probes, and its events stay`, async (context) => {
      const { sender, network } = context;
      network.react = () => status;
      for (let at = 0; at < 60; at++) {
        await sender.tasks.register(start({ taskId: `t${at}` }), { push });
        await sender.tasks.update(`t${at}`, { status: "working" });
      }
      sender.start();
      await until(() => network.sent.length >= 5);
      const before = network.sent.length;
      for (let second = 0; second < 60; second += 5) await leap(context, 5_000);
      assert.ok(network.sent.length > before, "it is probed");
      assert.ok(network.sent.length <= 30, `${network.sent.length} requests in a minute`);
      assert.equal(await sender.outbox.counts(), holds({ waiting: 60 }));
    });
  }

  test("Retry-After of a 429 holds the endpoint, and no other", async (context) => {
    const { sender, network, clock } = context;
    const busy = "https://busy.example/h";
    let well = false;
    network.react = ({ url }) => (url === busy && !well ? { status: 429, headers: { "retry-after": "600" } } : 200);
    const tell = async (taskId: string, url: string) => {
      await sender.tasks.register(start({ taskId }), { push: { ...push, url } });
      await sender.tasks.update(taskId, { status: "working" });
    };
    for (let at = 0; at < 5; at++) await tell(`t${at}`, busy);
    sender.start();
    await until(() => network.sent.length === 1);
    await until(async () => (await sender.outbox.list())[0]!.attempts === 1);
    // What was learnt is written down before the clock leaps on: in 600 seconds of a clock that walks it always is.
    await until(async () => (await sender.outbox.endpoints()).some(({ state }) => state === "resting"));
    const others = async (sent: number) => {
      await until(async () => (await sender.outbox.list()).length === 5);
      assert.is(network.sent.length, 1 + sent);
    };
    await tell("other", HOOK);
    await others(1);
    for (let minute = 0; minute < 9; minute++) {
      clock.at += 60_000;
      await tell(`m${minute}`, HOOK);
      await others(2 + minute);
    }
    well = true;
    clock.at += 60_000;
    await until(() => drained(sender));
    assert.is(network.sent.filter(({ url }) => url === busy).length, 6);
    assert.ok(network.sent.every(({ url, at }, index) => url !== busy || index === 0 || at >= NOW + 600_000));
  });

  test.run();
}

/** What is an endpoint's, and what is ours. */
function ownCase(of: SenderCase): void {
  const test = suiteOf(of, "strangers, attempts");
  test("a signer that never answers is an attempt that failed, and the next one is made", async (context) => {
    const { clock, network } = context;
    let hangs = true;
    const remote: Signer = {
      ...{ keyid: "k", alg: "ed25519" },
      sign: (base) => (hangs ? new Promise<never>(() => undefined) : sign(null, base, remoteKey.privateKey)),
    };
    const signerFor = (principal: string) => Promise.resolve({ ...remote, keyid: `of-${principal}` });
    const sender = await reopened(of, context, { signer: undefined as never, signerFor, signerTimeoutMs: 20 });
    sender.start();
    await sender.tasks.register(start(), { push });
    await sender.tasks.update("task-1", { status: "working" });
    await until(async () => (await sender.outbox.list())[0]!.attempts === 1);
    const [record] = await sender.activity({ principal: "buyer-1", subject: "task-1" });
    assert.is(record!.error_message, "not sent: the signer did not answer in 20 ms");
    assert.is(network.sent.length, 0);
    hangs = false;
    clock.at += 60_000;
    await until(() => drained(sender));
    const { headers } = network.sent[0]!;
    assert.match(headers["Signature-Input"]!, 'keyid="of-buyer-1"');
  });

  test("a signer that throws is an attempt: shown, ever later, and given up after a day", async (context) => {
    const logged: unknown[] = [];
    const sender = await reopened(of, context, {
      signer: () => {
        throw new Error("kms://secret-name is away");
      },
      logger: { error: (given: object) => logged.push(given), warn: () => undefined, info: () => undefined } as never,
    });
    sender.start();
    await sender.tasks.register(start(), { push });
    await sender.tasks.update("task-1", { status: "working" });
    await until(async () => (await sender.outbox.list())[0]!.attempts === 1);
    assert.is((await sender.outbox.list())[0]!.due, NOW + 1_000);
    const [record] = await sender.activity({ principal: "buyer-1", subject: "task-1" });
    assert.equal([record!.status, record!.error_message], ["failed", "not sent: the signer failed"]);
    assert.match(String((logged[0] as { err: Error }).err), "kms");
    await until(async () => {
      await noneOut(sender);
      context.clock.at += HOUR;
      return (await sender.outbox.counts()).dead === 1;
    });
    assert.equal(await sender.outbox.counts(), holds({ dead: 1 }));
    assert.is(context.network.sent.length, 0);
  });

  test.run();
}

/** What an endpoint is given. */
function limitCase(of: SenderCase): void {
  const test = suiteOf(of, "strangers, limits");
  test("timeout and rate are an endpoint's own", async (context) => {
    const asked: unknown[] = [];
    const timeouts: unknown[] = [];
    const { network } = context;
    const sender = await reopened(of, context, {
      fetch: (url, request) => {
        timeouts.push(request?.timeouts?.totalMs);
        return network.fetch(url, request);
      },
      limits: (endpoint) => {
        asked.push(endpoint);
        return { timeoutMs: 99_000, perSecond: 2 };
      },
    });
    for (let at = 0; at < 12; at++) {
      await sender.tasks.register(start({ taskId: `t${at}` }), { push });
      await sender.tasks.update(`t${at}`, { status: "working" });
    }
    sender.start();
    await until(() => network.sent.length >= 2);
    const before = network.sent.length;
    for (let step = 0; step < 4; step++) await leap(context, 500);
    assert.ok(network.sent.length > before, "it goes on");
    assert.ok(network.sent.length <= 7, `${network.sent.length} in two seconds at 2/s`);
    await until(async () => {
      await leap(context, 500);
      return drained(sender);
    });
    assert.equal([asked[0], timeouts[0]], [{ principal: "buyer-1", url: HOOK }, 30_000]);
  });

  test.run();
}

export function strangersCase(of: SenderCase): void {
  for (const cases of [ownershipCase, targetCase, breakerCase, ownCase, limitCase]) cases(of);
}
