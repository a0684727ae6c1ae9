/** Who an event is from: never what its body says. */
import * as assert from "uvu/assert";
import { signStandardWebhook } from "../../runtime/signing/index.js";
import {
  envelope,
  errorOf,
  keysOf,
  OTHER,
  SECRET,
  SELLER,
  START_MS,
  sellerKey,
  send,
  sendHmac,
  statusOf,
  TOKEN,
} from "../support/receiver.js";
import { codeOf } from "../support/thrown.js";
import { receiverSuite } from "./receiver-suite.js";

const test = receiverSuite("identity");

test("legacy credentials count by registration only, and two secrets do while rotating", async ({ open }) => {
  const previous = "cHJldmlvdXMtc2VjcmV0LW9mLWEtc2VsbGVyLTAx";
  const hmac = { current: SECRET, previous };
  const s = await open({ senderConfig: { hmac, bearer: { current: TOKEN } } });
  await s.receiver.expect({
    route: "/hooks/h",
    sender: SELLER,
    kind: "task",
    operationId: "op-1",
    mode: "HMAC-SHA256",
  });
  await s.receiver.expect({ route: "/hooks/b", sender: SELLER, kind: "task", operationId: "op-1", mode: "Bearer" });
  const route = "/hooks/h";
  assert.is((await sendHmac(s, envelope({ task_id: "1" }), { route })).status, 200);
  assert.is((await sendHmac(s, envelope({ task_id: "2" }), { route, secret: previous })).status, 200);
  const wrong = await sendHmac(s, envelope(), { route, secret: "d3Jvbmctc2VjcmV0LW9mLWEtc2VsbGVyLTAxMjM0" });
  assert.equal([wrong.status, errorOf(wrong)], [401, "hmac_signature_invalid"]);
  // A registration for one mode is never satisfied by another.
  assert.is(errorOf(await send(s, envelope(), { route })), "webhook_mode_mismatch");
  assert.is(errorOf(await sendHmac(s, envelope(), { route: "/hooks/a" })), "webhook_mode_mismatch");
  const bearer = (token: string, task_id: string) =>
    s.receiver.handle({
      method: "POST",
      target: "/hooks/b",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: Buffer.from(JSON.stringify(envelope({ task_id }))),
    });
  assert.is((await bearer(TOKEN, "3")).status, 200);
  const refused = await bearer(SECRET, "4");
  assert.is(refused.status, 401);
  assert.match(refused.headers["www-authenticate"]!, /^Bearer/);
  assert.is(errorOf(await sendHmac(s, "text", { route })), "body_not_object");
});

test("Standard Webhooks are verified by registration only, with two secrets while rotating", async ({ open }) => {
  const route = "/hooks/s";
  const expected = { route, sender: SELLER, kind: "task", operationId: "op-1", mode: "standard-webhooks" } as const;
  const bare = await open();
  assert.is(await codeOf(() => bare.receiver.expect(expected)), "registration_invalid");
  const weak = await open({ senderConfig: { standardWebhooks: { current: SECRET } } });
  assert.is(await codeOf(() => weak.receiver.expect(expected)), "secret_weak");

  const [current, previous] = [`whsec_${btoa(SECRET)}`, `whsec_${btoa(TOKEN)}`];
  const s = await open({ senderConfig: { standardWebhooks: { current, previous } } });
  await s.receiver.expect(expected);
  const sent = async (body: object, secret = current, to = route) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const headers = await signStandardWebhook(bytes, { secret, id: "msg_1", now: () => Math.floor(s.clock.ms / 1000) });
    const fields = { "content-type": "application/json", host: "hooks.buyer.example", ...headers };
    return s.receiver.handle({ method: "POST", target: to, headers: fields, body: bytes });
  };
  const body = envelope({ task_id: "1" });
  assert.is(statusOf(await sent(body)), "accepted");
  assert.is(statusOf(await sent(body)), "duplicate");
  assert.is((await sent(envelope({ task_id: "2" }), previous)).status, 200);
  const wrong = await sent(envelope({ task_id: "3" }), `whsec_${btoa("d3Jvbmctc2VjcmV0LW9mLWEtc2VsbGVy")}`);
  assert.equal([wrong.status, errorOf(wrong)], [401, "hmac_signature_invalid"]);
  assert.is(errorOf(await sent(body, current, "/hooks/a")), "webhook_mode_mismatch");
  assert.is(errorOf(await send(s, body, { route })), "webhook_mode_mismatch");
});

test("a seller that migrates from HMAC to signatures keeps one keyspace", async ({ open }) => {
  const s = await open({ senderConfig: { hmac: { current: SECRET } } });
  await s.receiver.expect({
    route: "/hooks/h",
    sender: SELLER,
    kind: "task",
    operationId: "op-1",
    mode: "HMAC-SHA256",
  });
  const body = envelope();
  assert.is(statusOf(await sendHmac(s, body, { route: "/hooks/h" })), "accepted");
  assert.is(statusOf(await send(s, body)), "duplicate");
});

test("identity comes from the key: another sender's signature is refused, an alias shares the keyspace", async ({
  open,
}) => {
  const [foreign, renamed] = [sellerKey("key-1"), sellerKey("key-9")];
  const s = await open({ more: { [OTHER]: { keys: keysOf(OTHER, foreign) } } });
  assert.is((await send(s, envelope(), { key: foreign })).status, 401, "the other's key-1 is not this one's");
  await s.receiver.expect({ route: "/hooks/o", sender: OTHER, kind: "task", operationId: "op-1" });
  const body = envelope();
  assert.is(statusOf(await send(s, body)), "accepted");
  assert.is(statusOf(await send(s, body, { key: foreign, route: "/hooks/o" })), "accepted", "keyspaces are apart");

  const alias = "https://old.seller.example/agent";
  const t = await open({ senderConfig: { keys: keysOf(alias, renamed), aliases: [alias] } });
  assert.is(statusOf(await send(t, envelope(), { key: renamed })), "accepted");
  const u = await open({ senderConfig: { keys: keysOf(alias, renamed) } });
  assert.is(errorOf(await send(u, envelope(), { key: renamed })), "webhook_signature_key_unknown");
});

test("two senders may use one keyid and one nonce", async ({ open }) => {
  const foreign = sellerKey("key-1");
  const s = await open({ more: { [OTHER]: { keys: keysOf(OTHER, foreign) } } });
  await s.receiver.expect({ route: "/hooks/o", sender: OTHER, kind: "task", operationId: "op-1" });
  const replay = s.store.replay();
  assert.is(await replay.insert(`${SELLER} key-1`, "n".repeat(22), START_MS / 1000 + 300, START_MS / 1000), "inserted");
  assert.is((await send(s, envelope(), { key: foreign, route: "/hooks/o" })).status, 200);
});

test("Host must be the public one, unless a proxy rewrites it", async ({ open }) => {
  const s = await open();
  const answer = await send(s, envelope(), { headers: { host: "internal:8080" } });
  assert.is(errorOf(answer), "webhook_target_uri_malformed");
  const t = await open({ ignoreHost: true });
  assert.is((await send(t, envelope(), { headers: { host: "internal:8080" } })).status, 200);
});

test.run();
