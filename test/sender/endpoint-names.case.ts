/** URLs that carry an id of the operation, on every store: all of them are one endpoint. */
import * as assert from "uvu/assert";
import { release as release30 } from "../../generated/3.0.0/index.js";
import { release as release31 } from "../../generated/3.1.0/index.js";
import type { Sender } from "../../runtime/sender/index.js";
import { turns, until } from "../support/until.js";

import { NOW, type Sent, secretKeys } from "./fixture.js";
import { drained, HOOK, noneOut, push, reopened, type SenderCase, start, suiteOf } from "./sender-suite.js";

/** As published ones of that line are: registrations have no place for the operation's id. */
const placeless = {
  ...release30,
  facts: { ...release30.facts, events: { ...release30.facts.events, unnamed: undefined } },
} as never;

const BAD = "https://bad.example/hooks";
const isBad = ({ url }: Pick<Sent, "url">): boolean => url.startsWith("https://bad.example/");

/** A task whose URL nobody else has. */
async function tellOwn(sender: Sender, name: string, url: (operation: string) => string): Promise<void> {
  const operation = `op-${name}`;
  await sender.tasks.register(start({ taskId: name }), { push: { url: url(operation), operation_id: operation } });
  await sender.tasks.update(name, { status: "working" });
}

async function tellOther(sender: Sender, taskId: string): Promise<void> {
  await sender.tasks.register(start({ taskId }), { push });
  await sender.tasks.update(taskId, { status: "working" });
}

const inPath = (operation: string): string => `${BAD}/${operation}/events`;

/** What fails, fails as a whole. */
function breakerCase(of: SenderCase): void {
  const test = suiteOf(of, "URLs of operations, breaker");
  test("200 tasks with URLs of their own at a host that answers 404 cost probes only, and delay nobody", async (context) => {
    const { sender, network, clock } = context;
    network.react = (sent) => (isBad(sent) ? 404 : 200);
    for (let at = 0; at < 200; at++) await tellOwn(sender, `t${at}`, inPath);
    sender.start();
    const bad = async () => (await sender.outbox.endpoints()).find(({ url }) => isBad({ url }))!;
    await until(async () => (await bad()).state === "resting" && (await bad()).restsUntil! > clock.at);
    await noneOut(sender);
    const [one, ...more] = await sender.outbox.endpoints();
    assert.equal([one!.waiting, more.length], [200, 0]);
    const before = network.sent.length;
    assert.ok(before <= 8, `${before} requests before it rests`);
    for (let probe = 1; probe <= 6; probe++) {
      const { restsUntil } = await bad();
      await tellOther(sender, `other${probe}`);
      await until(() => network.sent.filter((sent) => !isBad(sent)).length === probe, "another's is sent at once");
      assert.ok((await bad()).restsUntil! <= restsUntil!, "it was not probed meanwhile");
      clock.at = restsUntil!;
      await until(async () => (await bad()).restsUntil! > clock.at, "it is probed");
      await noneOut(sender);
    }
    const requests = network.sent.filter(isBad).length;
    assert.ok(requests <= before + 6, `${requests} requests`);
    assert.is((await sender.outbox.counts()).waiting, 200);
  });

  test("Retry-After of one URL of an operation holds all that differ in nothing else", async (context) => {
    const { sender, network, clock } = context;
    let well = false;
    network.react = (sent) => (isBad(sent) && !well ? { status: 429, headers: { "retry-after": "600" } } : 200);
    for (let at = 0; at < 10; at++) await tellOwn(sender, `t${at}`, (operation) => `${BAD}?a=1&op=${operation}`);
    sender.start();
    await until(async () => (await sender.outbox.endpoints()).some(({ restsUntil }) => restsUntil === NOW + 600_000));
    await noneOut(sender);
    await tellOther(sender, "other");
    await until(() => network.sent.some((sent) => !isBad(sent)));
    clock.at += 599_000;
    await turns();
    assert.is(network.sent.filter(isBad).length, 1);
    well = true;
    clock.at += 1_000;
    await until(() => drained(sender));
    const urls = network.sent.filter(isBad).map(({ url }) => url);
    assert.equal(new Set(urls).size, 10, "each goes to its own URL");
    assert.ok(urls.includes(`${BAD}?a=1&op=op-t3`));
  });

  test.run();
}

/** What is known of one is known of all. */
function proofCase(of: SenderCase): void {
  const test = suiteOf(of, "URLs of operations, proof");
  test("a buyer with a URL for each operation is proved by the first of them", async (context) => {
    const { sender, network } = context;
    await tellOwn(sender, "first", inPath);
    sender.start();
    await until(() => drained(sender));
    const held: (() => void)[] = [];
    network.react = () => new Promise((resolve) => held.push(() => resolve(200)));
    for (let at = 0; at < 8; at++) await tellOwn(sender, `t${at}`, inPath);
    // One that is not proved has one at a time.
    await until(() => held.length >= 2, "two are under way at once");
    network.react = () => 200;
    for (const release of held) release();
    await until(() => drained(sender));
  });

  test.run();
}

/** Whose the URL is. */
function opaqueCase(of: SenderCase): void {
  const test = suiteOf(of, "URLs of operations, opaque");
  test("a URL's last segment is no operation where a registration has a place for one, and URLs are endpoints each", async (context) => {
    const { network } = context;
    for (const [at, release] of [release30, release31].entries()) {
      const sender = await reopened(of, context, { release: release as never });
      for (const token of ["agent_1", "agent_2"]) {
        const taskId = `${token} ${at}`;
        await sender.tasks.register(start({ taskId }), { push: { url: `${HOOK}/create_media_buy/${token}` } });
        await sender.tasks.update(taskId, { status: "working" });
      }
      assert.is((await sender.outbox.endpoints()).length, 2);
      sender.start();
      await until(() => drained(sender));
      await sender.stop();
    }
    assert.equal(
      network.sent.map(({ body }) => [body.task_id, body.operation_id]).sort(),
      ["agent_1 0", "agent_1 1", "agent_2 0", "agent_2 1"].map((id) => [id, undefined]),
    );
  });
  test.run();
}

/** Whose they are, and where they go. */
function namingCase(of: SenderCase): void {
  const test = suiteOf(of, "URLs of operations, names");
  test("under a release whose registrations name no operation the URL's last segment is its place", async (context) => {
    const { network } = context;
    const sender = await reopened(of, context, { release: placeless });
    network.react = () => 404;
    for (let at = 0; at < 5; at++) {
      await sender.tasks.register(start({ taskId: `t${at}` }), { push: { url: `${BAD}/task/op_${at}` } });
      await sender.tasks.update(`t${at}`, { status: "working" });
    }
    // Words are places, and each is an endpoint.
    for (const place of ["north", "south"]) {
      await sender.tasks.register(start({ taskId: place }), { push: { url: `${BAD}/${place}` } });
      await sender.tasks.update(place, { status: "working" });
    }
    const waiting = (await sender.outbox.endpoints()).map((one) => one.waiting);
    assert.equal(waiting.sort(), [1, 1, 5]);
  });

  test("what is sealed of a URL is not told as the operation's id, nor is what stands in its place", async (context) => {
    const { network } = context;
    const sender = await reopened(of, context, { release: placeless, secrets: secretKeys });
    const ids = ["op_7", "0b6c1f6e-3f0a-4a55-9a59-3d0f5c2f8f11"];
    for (const id of ids) {
      await sender.tasks.register(start({ taskId: id }), { push: { url: `${HOOK}/${id}` } });
      await sender.tasks.update(id, { status: "working" });
    }
    sender.start();
    await until(() => drained(sender));
    const told = network.sent.map(({ url, body }) => [url, body.operation_id]);
    assert.equal(told.sort(), ids.map((id, at) => [`${HOOK}/${id}`, at === 0 ? id : undefined]).sort());
  });

  test("other principals' URLs have endpoints of their own; A2A's of the same operation has one with the others", async (context) => {
    const { sender } = context;
    for (const taskId of ["t1", "t2"]) {
      const a2a = { url: `https://a2a.example/op-${taskId}` };
      await sender.tasks.register(start({ taskId }), { push: { url: HOOK, operation_id: `op-${taskId}` }, a2a });
      await sender.tasks.update(taskId, { status: "working" });
    }
    await tellOwn(sender, "t3", inPath);
    await sender.tasks.register(start({ taskId: "t4", principal: "b" }), {
      push: { url: inPath("op-t4"), operation_id: "op-t4" },
    });
    await sender.tasks.update("t4", { status: "working" });
    const found = (await sender.outbox.endpoints()).map(({ endpoint, waiting }) => [endpoint.split(" ")[0], waiting]);
    assert.equal(found, [
      ["https://a2a.example", 2],
      ["https://bad.example", 1],
      ["https://bad.example", 1],
      ["https://buyer.example", 2],
    ]);
  });

  test.run();
}

/** Where they go when they move. */
function movingCase(of: SenderCase): void {
  const test = suiteOf(of, "URLs of operations, moves");
  test("an endpoint of many URLs moves as one, each with its id where the new URL has a place for it", async (context) => {
    const { network } = context;
    const sender = await reopened(of, context, { release: placeless });
    // The second is kept sealed: it looks like a secret.
    const names = ["op_1", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"];
    for (const name of names) {
      await sender.tasks.register(start({ taskId: name }), { push: { url: `${BAD}/${name}` } });
      await sender.tasks.update(name, { status: "working" });
    }
    const [from] = await sender.outbox.endpoints();
    const there = await sender.outbox.move(from!.endpoint, "https://new.example/{operation_id}/h?op={operation_id}");
    assert.equal([there.registrations, there.events, there.sealed], [2, 2, 0]);
    const found = (await sender.outbox.endpoints()).map(({ endpoint, waiting }) => [endpoint, waiting]);
    assert.equal(found, [[there.endpoint, 2]]);
    for (const name of names) await sender.tasks.update(name, { status: "working", message: "again" });
    sender.start();
    await until(() => drained(sender));
    assert.is(network.sent.length, 4);
    const told = network.sent.filter(({ body }) => body.message === "again");
    assert.equal(
      told.map(({ url, body }) => [url, body.operation_id]).sort(),
      names.map((name) => [`https://new.example/${name}/h?op=${name}`, name]).sort(),
    );
  });

  test("a place for an id that nothing there has is refused, and all stays where it is", async ({
    sender,
    network,
  }) => {
    await sender.channels.open({ mediaBuyId: "mb", principal: "a" }, { events: { url: HOOK } });
    await sender.channels.impairment("mb", { notificationId: "i", eventType: "fraud", impairment: {} });
    const [from] = await sender.outbox.endpoints();
    const code = await sender.outbox
      .move(from!.endpoint, "https://new.example/{operation_id}")
      .then(String, (fault) => fault.code);
    assert.is(code, "registration_invalid");
    sender.start();
    await until(() => drained(sender));
    assert.equal(
      network.sent.map(({ url }) => url),
      [HOOK],
    );
  });

  test.run();
}

export function endpointNameCase(of: SenderCase): void {
  for (const cases of [breakerCase, proofCase, opaqueCase, namingCase, movingCase]) cases(of);
}
