/** The order of the checks, and what each of them answers. */
import { hash, type KeyObject, randomUUID, sign } from "node:crypto";
import { Readable } from "node:stream";
import * as assert from "uvu/assert";
import { signWebhook } from "../../runtime/signing/index.js";
import {
  envelope,
  errorOf,
  PUBLIC_URL,
  SECRET,
  SELLER,
  START_MS,
  send,
  signed,
  statusOf,
  TOKEN,
} from "../support/receiver.js";
import { receiverSuite } from "./receiver-suite.js";

const test = receiverSuite("pipeline");

const SKEWED = 10 * 60_000;

test("a webhook asks the store three times: for its registration, to be kept, and at its handler's end", async ({
  open,
}) => {
  const s = await open();
  const asked: string[] = [];
  const listen = (room: object, name: string): object =>
    new Proxy(room, {
      get(target, method) {
        const found = Reflect.get(target, method) as unknown;
        if (typeof found !== "function") return found;
        return (...given: unknown[]) => {
          asked.push(`${name}.${String(method)}`);
          return found.apply(target, given) as unknown;
        };
      },
    });
  Object.assign(s.store, { inbox: listen(s.store.inbox, "inbox") });
  Object.assign(s.store, { registrations: listen(s.store.registrations, "registrations") });
  assert.is((await send(s, envelope())).status, 200);
  await s.receiver.idle();
  assert.equal(
    asked.filter((one) => one !== "inbox.take"),
    ["registrations.own", "inbox.accept", "inbox.complete"],
  );
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
  bad.target = "/hooks/t";
  await go();
  bad.headers = { "content-type": "application/json" };
  await go();
  bad.body = Buffer.from("{}");
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
    [404, "unknown_route"],
    [401, "webhook_mode_mismatch"],
    [413, "body_too_large"],
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

test("application/json is taken with or without parameters, and no other media type is", async ({ open }) => {
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
  const answering = s.receiver.handle({ method: "POST", target: "/hooks/a", headers, body: cut });
  // Its route is still looked up: as long as that takes, an error that nobody hears would end the process.
  assert.ok(cut.listenerCount("error") > 0);
  cut.destroy(new Error("gone"));
  assert.is((await answering).status, 400);
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

test.run();
