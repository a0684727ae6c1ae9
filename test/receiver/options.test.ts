/** What a receiver is told beforehand, and what it tells. */
import { createHmac } from "node:crypto";
import * as assert from "uvu/assert";
import {
  envelope,
  errorOf,
  goBy,
  OTHER,
  PUBLIC_URL,
  SECRET,
  SELLER,
  START_MS,
  send,
  sendHmac,
  statusOf,
  TOKEN,
} from "../support/receiver.js";
import { codeOf } from "../support/thrown.js";
import { wide } from "../support/wide.js";
import { receiverSuite } from "./receiver-suite.js";

const test = receiverSuite("options");

test("logs hold no body, no secret and no unsanitised key name", async ({ open }) => {
  const s = await open({ senderConfig: { hmac: { current: SECRET } } });
  await s.receiver.expect({
    route: "/hooks/h",
    sender: SELLER,
    kind: "task",
    operationId: "op-1",
    mode: "HMAC-SHA256",
    token: TOKEN,
  });
  const marked = envelope({ message: "MARKED-BODY", result: { buyer_ref: "MARKED-RESULT" } });
  await send(s, marked);
  await send(s, { ...marked, message: "MARKED-AGAIN" });
  await send(s, envelope({ status: "MARKED-STATUS" }));
  await sendHmac(s, envelope({ token: "MARKED-TOKEN" }), { route: "/hooks/h" });
  const doubled = Buffer.from('{"a\\u0000MARKED":1,"a\\u0000MARKED":2}');
  const timestamp = String(START_MS / 1000);
  const mac = createHmac("sha256", SECRET).update(`${timestamp}.`).update(doubled).digest("hex");
  const headers = {
    "content-type": "application/json",
    "x-proto-signature": `sha256=${mac}`,
    "x-proto-timestamp": timestamp,
  };
  const answer = await s.receiver.handle({ method: "POST", target: "/hooks/h", headers, body: doubled });
  assert.is(errorOf(answer), "webhook_body_malformed");
  await s.receiver.idle();
  const text = s.logs.join("");
  assert.ok(text.includes("webhook_body_malformed"));
  for (const secret of ["MARKED", SECRET, TOKEN]) assert.not.match(text, secret);
});

test("a bearer token that no header may carry is refused when it is registered", async ({ open }) => {
  for (const current of [
    "correct horse battery staple, and more",
    "пароль-".repeat(4) + "0123456789",
    "a=b0123456789".repeat(3),
  ]) {
    const s = await open({ senderConfig: { bearer: { current } } });
    const bearer = { route: "/hooks/b", sender: SELLER, kind: "task", mode: "Bearer" } as const;
    assert.is(await codeOf(() => s.receiver.expect(bearer)), "secret_weak", current);
  }
});

test("configuration that cannot work is refused when it is given", async ({ open }) => {
  const s = await open({ senderConfig: { bearer: { current: "short" } } });
  const base = { route: "/hooks/x", sender: SELLER, kind: "task" } as const;
  assert.is(await codeOf(() => s.receiver.expect({ ...base, route: "hooks" })), "registration_invalid");
  const long = `/${"x".repeat(1_600 - SELLER.length)}`;
  assert.is(await codeOf(() => s.receiver.expect({ ...base, route: long })), "registration_invalid");
  await s.receiver.expect({ ...base, route: long.slice(0, -1), operationId: wide(256) });
  assert.is(await codeOf(() => s.receiver.expect({ ...base, sender: OTHER })), "registration_invalid");
  assert.is(await codeOf(() => s.receiver.expect({ ...base, mode: "HMAC-SHA256" })), "registration_invalid");
  assert.is(await codeOf(() => s.receiver.expect({ ...base, mode: "Bearer" })), "secret_weak");
  assert.is(await codeOf(() => s.receiver.expect({ ...base, release: "9.9.9" })), "registration_invalid");
  assert.is(await codeOf(() => s.receiver.expect({ ...base, operationId: "" })), "registration_invalid");
  const short = { ...base, token: "15 characters.." };
  assert.is(await codeOf(() => s.receiver.expect(short)), "registration_invalid");
  assert.is(await s.receiver.expect({ ...short, format: "a2a" }), 0, "A2A's own config has no least length");
  assert.is(
    await codeOf(() => s.receiver.expect({ ...base, route: "/hooks/a", kind: "report" })),
    "registration_invalid",
  );
  for (const settings of [
    { dedupWindowSeconds: 3600 },
    { dedupWindowSeconds: 1.5 },
    { senderCap: 0 },
    { concurrency: Number.NaN },
    { publicUrl: "hooks.example" },
    { publicUrl: `${PUBLIC_URL}?a=1` },
    { handlers: { fallback: undefined as never } },
    { handlers: { tools: { no_such_tool: {} } as never } },
  ]) {
    assert.is(await codeOf(() => open(settings)), "receiver_option_invalid", JSON.stringify(settings));
  }
});

test("a shorter window is kept and shown once it is announced", async ({ open }) => {
  const s = await open({ dedupWindowSeconds: 3600, announcedWindow: true });
  assert.is(s.receiver.descriptor.dedup_window_seconds, 3600);
  const body = envelope();
  await send(s, body);
  await goBy(s, 3_600_000);
  assert.not(statusOf(await send(s, body)) === "duplicate");
});

test("what another instance took back is known in seconds, though the clock is set back", async ({ open }) => {
  const s = await open();
  assert.is(statusOf(await send(s, envelope())), "accepted");
  await s.store.registrations.remove("/hooks/a", "op-1");
  assert.is((await send(s, envelope({ operation_id: "op-2" }))).status, 200, "remembered for a moment");
  s.clock.ms -= 3_600_000;
  assert.is((await send(s, envelope())).status, 404);
});

test("a registration taken back parks what comes for it", async ({ open }) => {
  const s = await open();
  await s.receiver.expect({ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "op-2" });
  assert.ok(await s.receiver.forget("/hooks/a", "op-1"));
  assert.is(statusOf(await send(s, envelope())), "accepted");
  assert.equal(await s.store.inbox.backlog(), { pending: 0, parked: 1, dead: 0 });
});

test.run();
