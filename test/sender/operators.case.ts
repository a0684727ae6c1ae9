/** What an operator sees of endpoints, and does to them, on every store. */
import * as assert from "uvu/assert";
import { endpointOf } from "../../runtime/sender/endpoint-names.js";
import type { Sender } from "../../runtime/sender/index.js";
import { thrownBy } from "../support/thrown.js";
import { until } from "../support/until.js";
import { NOW } from "./fixture.js";
import {
  type Context,
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
  start,
  suiteOf,
} from "./sender-suite.js";

/** Operators, and what waits for ever. */
function pauseCase(of: SenderCase): void {
  const test = suiteOf(of, "strangers, operators");
  test("an operator sees an endpoint, pauses it, and its events are kept until it is resumed", async (context) => {
    const { sender, network } = context;
    const bad = "https://bad.example/h?token=s3cret";
    network.react = ({ url }) => (url === bad ? 404 : 200);
    for (let at = 0; at < 8; at++) {
      await sender.tasks.register(start({ taskId: `t${at}`, principal: "p" }), { push: { ...push, url: bad } });
      await sender.tasks.update(`t${at}`, { status: "working" });
    }
    sender.start();
    const one = async () => (await sender.outbox.endpoints())[0]!;
    await until(async () => (await one()).state === "resting" && (await one()).error !== null);
    const { endpoint, ...seen } = await one();
    assert.equal([seen.principal, seen.url, seen.error, seen.waiting], ["p", "https://bad.example/h", "HTTP 404", 8]);
    await sender.outbox.pause(endpoint);
    assert.is((await one()).state, "paused");
    const sent = network.sent.length;
    for (let day = 0; day < 9; day++) await leap(context, 24 * HOUR);
    assert.is(network.sent.length, sent);
    await sender.tasks.register(start(), { push });
    await sender.tasks.update("task-1", { status: "working" });
    await until(() => network.sent.length === sent + 1);
    await until(async () => (await sender.outbox.counts()).waiting === 8);
    assert.equal(await sender.outbox.counts(), holds({ waiting: 8 }));
    network.react = () => 200;
    assert.ok(await sender.outbox.resume(endpoint));
    await until(() => drained(sender));
    assert.equal(await sender.outbox.endpoints(), []);
    assert.not.ok(await sender.outbox.resume(endpoint));
  });

  test.run();
}

/** A name that was mistyped, or that comes later. */
function unknownCase(of: SenderCase): void {
  const test = suiteOf(of, "operators, unknown");
  test("a name that nothing is known of is not paused, unless that is said; one that is registered is, before its first event", async ({
    sender,
  }) => {
    await sender.tasks.register(start(), { push });
    await sender.tasks.update("task-1", { status: "working" });
    await sender.tasks.attach(start({ taskId: "task-2", principal: "p" }), { url: HOOK });
    await sender.channels.open({ mediaBuyId: "mb", principal: "q" }, { events: push });
    const [known] = await sender.outbox.endpoints();
    const mistyped = known!.endpoint.slice(0, -2);
    const { code, message } = await thrownBy(() => sender.outbox.pause(mistyped));
    assert.is(code, "endpoint_unknown");
    assert.match(message, `(${mistyped})`);
    assert.match(message, known!.endpoint);
    const elsewhere = await thrownBy(() => sender.outbox.pause("https://elsewhere.example a.b"));
    assert.not.match(elsewhere.message, known!.endpoint);
    assert.equal(await sender.outbox.endpoints(), [known]);
    assert.not.ok(await sender.outbox.resume(mistyped));
    const registered = [
      { principal: "p", url: HOOK },
      { principal: "q", url: push.url, operation: push.operation_id },
    ];
    for (const one of registered) await sender.outbox.pause(endpointOf(one));
    await sender.outbox.pause("https://elsewhere.example a.b", { ahead: true });
    await sender.outbox.pause("https://elsewhere.example a.b");
    const paused = (await sender.outbox.endpoints()).filter(({ state }) => state === "paused");
    assert.is(paused.length, 3);
  });

  test.run();
}

/** A pause that was asked for by the endpoint itself. */
function resumeCase(of: SenderCase): void {
  const test = suiteOf(of, "operators, resume");
  const asking = { status: 503, headers: { "retry-after": "3600" } };
  /** It has failed for so long that it is left alone, and asks for an hour at last. */
  const rested = async ({ sender, network }: Context): Promise<string> => {
    network.react = () => (network.sent.length >= 5 ? asking : 500);
    for (let at = 0; at < 5; at++) await tellOf(sender, `t${at}`);
    sender.start();
    await until(async () => (await sender.outbox.endpoints())[0]?.restsUntil === NOW + HOUR);
    await noneOut(sender);
    return (await sender.outbox.endpoints())[0]!.endpoint;
  };

  test("an operator who resumes an endpoint ends what it had asked for, though it succeeds then", async (context) => {
    const { sender, network, clock } = context;
    const endpoint = await rested(context);
    network.react = () => 200;
    assert.ok(await sender.outbox.resume(endpoint));
    // At once here, elsewhere within a minute. Those that were attempted have times of their own.
    for (let at = 0; at < 6; at++) {
      await tellOf(sender, `new${at}`);
      await until(() => network.sent.length === 6 + at, `new event ${at} is sent`);
      await noneOut(sender);
    }
    clock.at += HOUR / 2;
    assert.is((await sender.outbox.endpoints())[0]!.restsUntil, null);
  });

  test("an operator who resumes an endpoint ends what it had asked for, though it fails then", async (context) => {
    const { sender, network, clock } = context;
    const endpoint = await rested(context);
    network.react = () => 500;
    assert.ok(await sender.outbox.resume(endpoint));
    clock.at += 61_000;
    await tellOf(sender, "new");
    await until(() => network.sent.length >= 6, "it is probed");
    await until(async () => (await sender.outbox.endpoints())[0]!.restsUntil !== null);
    const { restsUntil } = (await sender.outbox.endpoints())[0]!;
    assert.ok(restsUntil! <= clock.at + 60_000, `${restsUntil! - clock.at} ms`);
  });

  test.run();
}

const tellOf = async (sender: Sender, taskId: string): Promise<void> => {
  await sender.tasks.register(start({ taskId }), { push });
  await sender.tasks.update(taskId, { status: "working" });
};

/** What waits for ever. */
function capsCase(of: SenderCase): void {
  const test = suiteOf(of, "operators, caps");
  test("what waits is capped by number: it expires, is counted, and may be sent again", async (context) => {
    for (let at = 0; at < 10; at++) await tellOf(context.sender, `t${at}`);
    const [endpoint] = await context.sender.outbox.endpoints();
    await context.sender.outbox.pause(endpoint!.endpoint);
    const capped = await reopened(of, context, { maxWaiting: 7 });
    capped.start();
    await until(async () => (await capped.outbox.counts()).expired === 3);
    // It looks once more whether there is more.
    await capped.stop();
    const subjects = (await capped.outbox.list({ state: "expired" })).map(({ subject }) => subject);
    assert.equal(subjects, ["t0", "t1", "t2"]);
    const [first] = await capped.outbox.list({ state: "expired" });
    assert.ok(await capped.outbox.replay(first!.id));
    assert.equal(await capped.outbox.counts(), holds({ waiting: 8, expired: 2 }));
  });

  test("a token of A2A's own may be short, and nothing a header cannot carry", async ({ sender, network }) => {
    sender.start();
    const a2a = (token: string) => ({ a2a: { url: HOOK, token } });
    assert.equal(await sender.tasks.register(start(), a2a("t")), { ok: true, registered: true });
    assert.is(codeIn(await sender.tasks.register(start({ taskId: "x" }), a2a("a\r\nb: c"))), "INVALID_REQUEST");
    await sender.tasks.update("task-1", { status: "working" });
    await until(() => network.sent.length === 1);
    assert.is(network.sent[0]!.headers["x-a2a-notification-token"], "t");
  });

  test.run();
}

export function operatorCase(of: SenderCase): void {
  for (const cases of [pauseCase, unknownCase, resumeCase, capsCase]) cases(of);
}
