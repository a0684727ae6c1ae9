/** The order of the checks, and what each of them answers. */
import { hash, type KeyObject, randomUUID, sign } from "node:crypto";
import { Readable } from "node:stream";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { signWebhook } from "../../runtime/signing/index.js";
import {
  envelope,
  errorOf,
  keysOf,
  PUBLIC_URL,
  SECRET,
  SELLER,
  type Setup,
  type SetupOptions,
  START_MS,
  sellerKey,
  send,
  setup,
  signed,
  statusOf,
  TOKEN,
} from "../support/receiver.js";

const test = suite<{ open: (options?: SetupOptions) => Promise<Setup>; opened: Setup[] }>("pipeline");
test.before.each((context) => {
  context.opened = [];
  context.open = async (options) => {
    const made = await setup(options);
    context.opened.push(made);
    await made.receiver.expect({ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "op-1" });
    return made;
  };
});
test.after.each(async ({ opened }) => {
  for (const one of opened) await one.close();
});

const SKEWED = 10 * 60_000;

test("a signed event is accepted once; its retries are duplicates and no-ops", async ({ open }) => {
  const s = await open();
  const body = envelope();
  const first = await send(s, body);
  assert.is(first.status, 200);
  assert.is(statusOf(first), "accepted");
  const again = await send(s, body);
  assert.is(again.status, 200);
  assert.is(statusOf(again), "duplicate");
  await s.receiver.idle();
  assert.is(s.seen.length, 1);
  assert.equal(s.seen[0]!.body, body);
  assert.is(s.seen[0]!.operationId, "op-1");
  assert.is(s.seen[0]!.timestamp, "2026-04-18T14:00:00.000000000Z");
});

test("a buy's impairments come to the place its task was registered for, and are no events of the task", async ({
  open,
}) => {
  const impaired: unknown[] = [];
  const s = await open({
    handlers: { impairment: (_body, { kind, notificationId }) => void impaired.push([kind, notificationId]) },
  });
  await send(s, envelope({ status: "completed" }));
  const impairment = {
    idempotency_key: "7c3f8a52-0f5c-4b8e-9d3d-0c8d52f4a0f1",
    operation_id: "op-1",
    notification_id: "imp-1",
    notification_type: "impairment",
    media_buy_id: "mb-1",
    timestamp: "2026-04-18T13:00:00Z",
    result: { impairment_id: "imp-1" },
  };
  assert.is(statusOf(await send(s, impairment)), "accepted");
  assert.is(statusOf(await send(s, impairment)), "duplicate");
  await s.receiver.idle();
  assert.equal(impaired, [["impairment", "imp-1"]]);
  const disguised = { ...impairment, idempotency_key: "another-key-of-16-chars", status: "working" };
  assert.is(errorOf(await send(s, disguised)), "missing_envelope_fields");
});

test("method, media type, size, route, mode, signature, envelope, token, claim: each goes before the next", async ({
  open,
}) => {
  const s = await open({ senderConfig: { hmac: { current: SECRET } } });
  await s.receiver.expect({ route: "/hooks/t", sender: SELLER, kind: "task", operationId: "op-1", token: TOKEN });
  // Wrong in every way but the first ones put right, one by one.
  const over = Buffer.alloc(1_048_577, 32);
  const bad = {
    method: "PUT",
    target: "/nowhere",
    headers: { "content-type": "text/plain", "x-proto-signature": "sha256=00" } as Record<string, string>,
    body: over as Uint8Array,
  };
  const codes: [number, string][] = [];
  const go = async () => {
    const answer = await s.receiver.handle(bad);
    codes.push([answer.status, errorOf(answer) ?? statusOf(answer)]);
  };
  await go();
  bad.method = "POST";
  await go();
  bad.headers["content-type"] = "application/json";
  await go();
  bad.body = Buffer.from("{}");
  await go();
  bad.target = "/hooks/t";
  await go();
  bad.headers = { "content-type": "application/json" };
  await go();
  const key = randomUUID();
  const late = { ...s, clock: { ms: START_MS - SKEWED } };
  const bodies = [
    [late, {}],
    [s, { a: 1 }],
    [s, envelope({ idempotency_key: key })],
    [s, envelope({ idempotency_key: key, token: TOKEN })],
    [s, envelope({ idempotency_key: key, token: TOKEN })],
  ] as const;
  for (const [who, body] of bodies) {
    Object.assign(bad, await signed(who, body, { route: "/hooks/t" }));
    await go();
  }
  assert.equal(codes, [
    [405, "method_not_allowed"],
    [415, "unsupported_media_type"],
    [413, "body_too_large"],
    [404, "unknown_route"],
    [401, "webhook_mode_mismatch"],
    [401, "webhook_signature_header_malformed"],
    [401, "webhook_signature_window_invalid"],
    [400, "missing_envelope_fields"],
    [401, "webhook_token_mismatch"],
    [200, "accepted"],
    [200, "duplicate"],
  ]);
});

test("a refused signature names its code in the challenge, and nothing is kept", async ({ open }) => {
  const s = await open();
  const request = await signed(s, envelope());
  const tampered = Buffer.from(request.body);
  tampered[tampered.length - 2] = 0x20;
  const answer = await s.receiver.handle({ ...request, body: tampered });
  assert.is(answer.status, 401);
  assert.is(answer.headers["www-authenticate"], 'Signature error="webhook_signature_digest_mismatch"');
  assert.equal(await s.store.inbox.backlog(), { pending: 0, parked: 0, dead: 0 });
  assert.is((await s.receiver.handle(request)).status, 200, "the nonce was not burned by it");
  const replayed = await s.receiver.handle(request);
  assert.is(errorOf(replayed), "webhook_signature_replayed");
});

test("media types: application/json with or without parameters, and nothing else", async ({ open }) => {
  const s = await open();
  const answerTo = async (type: string | undefined) => {
    const { headers, ...request } = await signed(s, envelope());
    const { "Content-Type": _, ...rest } = headers as Record<string, string>;
    return (
      await s.receiver.handle({ ...request, headers: type === undefined ? rest : { ...rest, "content-type": type } })
    ).status;
  };
  for (const type of [undefined, "", "text/json", "application/jsonp", "application/json, application/json"]) {
    assert.is(await answerTo(type), 415, String(type));
  }
  assert.is(await answerTo("Application/JSON"), 401, "allowed, but not what was signed");
  assert.is(await answerTo("application/json; charset=utf-8"), 401);
});

test("a body is cut off at the cap while it streams in", async ({ open }) => {
  const s = await open({ maxBodyBytes: 1000 });
  let read = 0;
  const chunks = async function* () {
    for (let i = 0; i < 1000; i += 1) {
      read += 100;
      yield Buffer.alloc(100, 32);
    }
  };
  const headers = { "content-type": "application/json" };
  for (const body of [chunks(), Readable.from(chunks())]) {
    read = 0;
    const answer = await s.receiver.handle({ method: "POST", target: "/hooks/a", headers, body });
    assert.is(answer.status, 413);
    assert.is(answer.headers.connection, "close");
    assert.ok(read < 5000, `${read} bytes were read`);
  }
  read = 0;
  const declared = { ...headers, "content-length": "1001" };
  const answer = await s.receiver.handle({ method: "POST", target: "/hooks/a", headers: declared, body: chunks() });
  assert.is(answer.status, 413);
  assert.is(read, 0);
});

test("a body that breaks off is refused, and the process goes on", async ({ open }) => {
  const s = await open();
  const headers = { "content-type": "application/json" };
  const cut = new Readable({ read: () => undefined });
  setTimeout(() => cut.destroy(new Error("gone")), 5);
  const broken = await s.receiver.handle({ method: "POST", target: "/hooks/a", headers, body: cut });
  assert.is(broken.status, 400);
  const iterable = (async function* () {
    yield Buffer.from("{");
    throw new Error("gone");
  })();
  assert.is((await s.receiver.handle({ method: "POST", target: "/hooks/a", headers, body: iterable })).status, 400);
});

test("a signed body that is not strict JSON burns its nonce and is 401", async ({ open }) => {
  const s = await open();
  // Our signer refuses such a body, so a signature over another one is made anew with this one's digest.
  const body = Buffer.from('{"a":1,"a":2}');
  const digest = (bytes: Uint8Array) => `sha-256=:${hash("sha256", bytes, "base64url")}:`;
  const plain = Buffer.from("{}");
  const made = await signWebhook(
    { method: "POST", url: `${PUBLIC_URL}/hooks/a`, headers: {}, body: plain },
    { key: s.key.privateKey, keyid: s.key.keyid, now: () => START_MS / 1000 },
  );
  const base = made.signatureBase.replace(digest(plain), digest(body));
  const signature = sign(null, Buffer.from(base), s.key.privateKey as KeyObject).toString("base64url");
  const headers = { ...made.headers, "Content-Digest": digest(body), Signature: `sig1=:${signature}:` };
  const request = { method: "POST", target: "/hooks/a", headers, body };
  const answer = await s.receiver.handle(request);
  assert.equal([answer.status, errorOf(answer)], [401, "webhook_body_malformed"]);
  assert.is(errorOf(await s.receiver.handle(request)), "webhook_signature_replayed");
});

test("envelopes that lack something are 400 and say what", async ({ open }) => {
  const s = await open();
  const answer = await send(s, envelope({ idempotency_key: undefined }));
  assert.is(answer.status, 400);
  assert.equal(JSON.parse(answer.body), { error: "missing_idempotency_key", fields: ["idempotency_key"] });
  const two = await send(s, envelope({ task_id: undefined, timestamp: undefined }));
  assert.equal(JSON.parse(two.body), { error: "missing_envelope_fields", fields: ["task_id", "timestamp"] });
  const noOperation = await send(s, envelope({ operation_id: undefined }));
  assert.equal(JSON.parse(noOperation.body), { error: "missing_envelope_fields", fields: ["operation_id"] });
  assert.is(errorOf(await send(s, [1])), "body_not_object");
});

test("operation_id may be missing only where a registration had none", async ({ open }) => {
  const s = await open();
  await s.receiver.expect({ route: "/hooks/any", sender: SELLER, kind: "task" });
  assert.is((await send(s, envelope({ operation_id: undefined }), { route: "/hooks/any" })).status, 200);
});

test("correlation is by operation_id in the body, never by the URL", async ({ open }) => {
  const s = await open();
  const route = "/hooks/op-2?operation_id=op-3";
  await s.receiver.expect({ route, sender: SELLER, kind: "task", operationId: "op-1", token: TOKEN });
  await s.receiver.expect({ route, sender: SELLER, kind: "task", operationId: "op-2" });
  await s.receiver.expect({ route, sender: SELLER, kind: "task", operationId: "op-3" });
  assert.is((await send(s, envelope({ operation_id: "op-1" }), { route })).status, 401, "op-1 needs its token");
  assert.is((await send(s, envelope({ operation_id: "op-1", token: TOKEN }), { route })).status, 200);
  await s.receiver.idle();
  assert.is(s.seen[0]!.operationId, "op-1");
});

test("a query is part of a route where it was registered with one, and ignored where not", async ({ open }) => {
  const s = await open();
  await s.receiver.expect({ route: "/hooks/q?k=1", sender: SELLER, kind: "task", operationId: "op-1" });
  assert.is((await send(s, envelope(), { route: "/hooks/q?k=1" })).status, 200);
  assert.is((await send(s, envelope(), { route: "/hooks/q?k=2" })).status, 404);
  assert.is((await send(s, envelope({ task_id: "t-2" }), { route: "/hooks/a?any=thing" })).status, 200);
  for (const target of [
    "*",
    "http://hooks.buyer.example/hooks/a",
    "/hooks/\u0000",
    "/hööks",
    "",
    `/${"x".repeat(3000)}`,
  ]) {
    const answer = await s.receiver.handle({ ...(await signed(s, envelope())), target });
    assert.is(answer.status, 404, target);
  }
});

test("a changed body under one key: 200, the first copy holds, and it is noticed", async ({ open }) => {
  const s = await open();
  const body = envelope();
  await send(s, body);
  const answer = await send(s, { ...body, message: "other" });
  assert.is(statusOf(answer), "duplicate");
  await s.receiver.idle();
  assert.is(s.seen.length, 1);
  assert.ok(s.logs.some((line) => line.includes("another body")));
});

test("what is not newer is answered 200 and not applied; a terminal state is final", async ({ open }) => {
  const s = await open();
  const at = (timestamp: string, status = "working") => send(s, envelope({ timestamp, status }));
  assert.is(statusOf(await at("2026-04-18T14:00:10Z")), "accepted");
  assert.is(statusOf(await at("2026-04-18T16:00:10+02:00")), "stale", "the same instant");
  assert.is(statusOf(await at("2026-04-18T14:00:10.000001Z")), "accepted", "a microsecond later");
  assert.is(statusOf(await at("2026-04-18T15:00:09+00:00", "completed")), "accepted");
  assert.is(statusOf(await at("2026-04-18T17:00:00Z")), "stale");
  assert.is(statusOf(await at("2026-04-18T17:00:01Z", "failed")), "stale");
  await s.receiver.idle();
  assert.equal(
    s.seen.map((delivery) => delivery.status),
    ["working", "working", "completed"],
  );
  assert.ok(s.logs.some((line) => line.includes("ended otherwise")));
});

test("an event before its registration is parked and handled when it comes", async ({ open }) => {
  const s = await open();
  assert.is(statusOf(await send(s, envelope({ operation_id: "later" }))), "accepted");
  await s.receiver.idle();
  assert.is(s.seen.length, 0);
  const released = await s.receiver.expect({
    ...{ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "later", taskType: "create_media_buy" },
  });
  assert.is(released, 1);
  await s.receiver.idle();
  assert.is(s.seen.length, 1);
});

test("a full keyspace is 429, with the sender's duplicates still answered 200", async ({ open }) => {
  const s = await open({ senderCap: 2 });
  const [one, two] = [envelope({ task_id: "t-1" }), envelope({ task_id: "t-2" })];
  await send(s, one);
  await send(s, two);
  const refused = await send(s, envelope({ task_id: "t-3" }));
  assert.is(refused.status, 429);
  assert.ok(Number(refused.headers["retry-after"]) > 0);
  assert.is(statusOf(await send(s, one)), "duplicate");
  s.clock.ms += 86_400_000;
  assert.is((await send(s, envelope({ task_id: "t-3" }))).status, 200);
});

test("when keys or the store cannot be reached the answer is 503, and the same event is accepted later", async ({
  open,
}) => {
  let down = true;
  const key = sellerKey();
  const real = keysOf(SELLER, key);
  const keys = {
    resolve: (kid: string) => (down ? { ok: false as const, code: "unavailable" as const } : real.resolve(kid)),
  };
  const s = await open({ senderConfig: { keys } });
  const body = envelope();
  const refused = await send(s, body, { key });
  assert.is(refused.status, 503);
  assert.ok(Number(refused.headers["retry-after"]) > 0);
  down = false;
  const { accept } = s.store.inbox;
  (s.store.inbox as { accept: unknown }).accept = async () => {
    throw new Error("disk");
  };
  assert.is((await send(s, body, { key })).status, 503);
  (s.store.inbox as { accept: unknown }).accept = accept;
  assert.is(statusOf(await send(s, body, { key })), "accepted");
});

test.run();
