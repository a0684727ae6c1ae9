/** Every named fault is answered as the profile asks, over a real socket; and a receiver that errs is told of. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { nodeListener } from "../../runtime/receiver/index.js";
import {
  createTestKey,
  createTestReceiver,
  faultAnswered,
  faultNames,
  isFaultName,
  signTestWebhook,
  type TestWebhook,
  testEvent,
  testFaults,
} from "../../runtime/testing/index.js";

const sender = "https://seller.example/agent";
const publicUrl = "https://hooks.buyer.example";
const url = `${publicUrl}/hooks/a?b=1`;

async function opened() {
  const made = createTestReceiver({ release, sender, publicUrl, ignoreHost: true });
  await made.receiver.expect({ route: "/hooks/a", sender, kind: "task" });
  const server = createServer(nodeListener(made.receiver)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const deliver = async ({ method, target, headers, body }: TestWebhook) => {
    const answer = await fetch(origin + target, { method, headers, body: body as Uint8Array<ArrayBuffer> });
    return { status: answer.status, body: await answer.text() };
  };
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await made.close();
  };
  return { ...made, deliver, close };
}

test("each fault is refused with its code; what comes before it, and the event itself, are accepted", async () => {
  const { deliver, clock, key, receiver, seen, close } = await opened();
  const now = () => clock.ms;
  for (const name of faultNames) {
    const requests = testFaults[name].make({ url, key, now, event: testEvent({ task_id: name }, now) });
    const answers = [];
    for (const request of requests) answers.push(await deliver(request));
    const last = answers.pop()!;
    assert.is(faultAnswered(name, last.status, last.body), undefined, name);
    assert.equal(
      answers.map(({ status }) => status),
      answers.map(() => 200),
      name,
    );
  }
  const { status } = await deliver(signTestWebhook({ url, key, now, event: testEvent({}, now) }));
  assert.is(status, 200);
  await receiver.idle();
  assert.equal(seen.map(({ taskId }) => taskId).sort(), ["replayed", "task-1"]);
  await close();
});

test("an answer that is none of the profile's is told in words", () => {
  assert.is(faultAnswered("forged", 200, '{"status":"accepted"}'), "answered 200, and not 401");
  assert.is(
    faultAnswered("forged", 401, '{"error":"webhook_signature_replayed"}'),
    "told webhook_signature_replayed, and not webhook_signature_invalid",
  );
  assert.is(faultAnswered("forged", 401, "no"), undefined, "a receiver need not say why");
  assert.ok(isFaultName("forged") && !isFaultName("toString"));
});

test("faults are made of keys of either kind", async () => {
  const { privateKey, publicKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  const key = { ...createTestKey(), privateKey: (await crypto.subtle.exportKey("jwk", privateKey)) as never };
  const [stale] = testFaults.stale.make({ url, key, event: testEvent() });
  assert.match(stale!.headers["Signature-Input"]!, 'alg="ecdsa-p256-sha256"');
  assert.is(publicKey.type, "public");
});

test.run();
