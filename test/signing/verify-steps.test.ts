/** The checklist for webhooks, step by step: every code, in the order of the steps. */
import { createHash } from "node:crypto";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type KeySource,
  memoryReplayStore,
  type ReplayStore,
  verificationKey,
  verifyWebhookSync,
  webhookCodes,
} from "../../runtime/signing/index.js";
import {
  bytes,
  forge,
  KID,
  makeKey,
  NOW,
  optionsFor,
  SENDER,
  type SignedRequest,
  signed,
  withHeaders,
} from "./fixtures.js";
import { es256, good, input, key, reached, refuses } from "./webhook-refusal.js";

test("step 1 refuses headers that are missing or odd", () => {
  const code = "webhook_signature_header_malformed";
  refuses(withHeaders(good, { "Signature-Input": undefined }), code, 1);
  refuses(withHeaders(good, { Signature: undefined }), code, 1);
  refuses(withHeaders(good, { Signature: undefined, "Signature-Input": undefined }), code, 1);
  refuses(withHeaders(good, { "Signature-Input": `${input}, ${input}` }), code, 1);
  refuses(withHeaders(good, { Signature: "sig2=:AAAA:" }), code, 1);
  refuses(withHeaders(good, { "Content-Type": "application/json, text/plain" }), code, 1);
  refuses(withHeaders(good, { "content-type": "application/json" }), code, 1);
  refuses(withHeaders(good, { "Content-Type": "application/json\n" + '"@method": GET' }), code, 1);
  refuses(withHeaders(good, { "Content-Type": "application/j\u00e9son" }), code, 1);
  refuses(withHeaders(good, { "Content-Digest": "sha-512=:AAAA:" }), code, 1);
  refuses(
    withHeaders(good, { "Content-Digest": `${good.headers["Content-Digest"]}, ${good.headers["Content-Digest"]}` }),
    code,
    1,
  );
  refuses(withHeaders(good, { "content-digest": good.headers["Content-Digest"] }), code, 1);
  refuses(withHeaders(good, { Host: "b\u00fccher.example" }), code, 1);
  refuses({ ...good, url: "https://b\u00fccher.example.com/p" }, code, 1);
  refuses({ ...good, method: 'POST\n"@target-uri": x' }, code, 1);
  for (const nonce of [
    "short",
    "KXYnfEfJ0PBRZXQyVXfVQ",
    "KXYnfEfJ0PBRZXQyVXfVQA==",
    "KXYnfEfJ0PBRZXQyVXfV+/",
    "KXYnfEfJ0PBRZXQyVXfV",
    "A".repeat(25),
  ]) {
    refuses(withHeaders(good, { "Signature-Input": input.replace(/nonce="[^"]*"/, `nonce="${nonce}"`) }), code, 1);
  }
});

test("step 2 refuses parameters that are incomplete", () => {
  for (const name of ["created", "expires", "nonce", "keyid", "alg", "tag"]) {
    const less = input.replace(new RegExp(`;${name}=("[^"]*"|[0-9]+)`), "");
    assert.is.not(less, input);
    refuses(withHeaders(good, { "Signature-Input": less }), "webhook_signature_params_incomplete", 2);
  }
});

test("step 3 refuses a tag of another profile", () => {
  for (const tag of [
    "proto/request-signing/v1",
    "PROTO/webhook-signing/v1",
    "proto/webhook-signing/v1 ",
    "proto/webhook-signing/v10",
    "",
  ]) {
    const other = input.replace(/tag="[^"]*"/, `tag="${tag}"`);
    refuses(withHeaders(good, { "Signature-Input": other }), "webhook_signature_tag_invalid", 3);
  }
  refuses(good, "webhook_signature_tag_invalid", 3, { word: "other" });
});

test("step 4 refuses an algorithm that is not allowed", () => {
  for (const alg of ["rsa-pss-sha512", "hmac-sha256", "ED25519", "none", "toString", ""]) {
    const other = input.replace('alg="ed25519"', `alg="${alg}"`);
    refuses(withHeaders(good, { "Signature-Input": other }), "webhook_signature_alg_not_allowed", 4);
  }
});

test("step 5 refuses what is outside its window, and takes the bounds themselves", () => {
  const window = (created: number, expires: number) =>
    withHeaders(good, {
      "Signature-Input": input.replace(/created=\d+;expires=\d+/, `created=${created};expires=${expires}`),
    });
  const outside: [number, number][] = [
    [NOW, NOW],
    [NOW, NOW - 1],
    [NOW, NOW + 301],
    [NOW + 61, NOW + 120],
    [NOW - 361, NOW - 61],
    [-1, 1],
    [0, 999_999_999_999_999],
  ];
  for (const [created, expires] of outside) refuses(window(created, expires), "webhook_signature_window_invalid", 5);
  for (const [created, expires] of [
    [NOW, NOW + 1],
    [NOW + 60, NOW + 360],
    [NOW - 360, NOW - 60],
  ] as const) {
    refuses(window(created, expires), "webhook_signature_invalid", 10);
  }
  assert.ok(verifyWebhookSync(good, optionsFor(key, { now: () => NOW + 360.9 })).ok);
  assert.ok(verifyWebhookSync(good, optionsFor(key, { now: () => NOW - 60 })).ok);
  refuses(good, "webhook_signature_window_invalid", 5, { now: () => NOW + 361 });
  refuses(good, "webhook_signature_window_invalid", 5, { now: () => NOW - 61 });
});

test("step 6 refuses all components but exactly the five in order", () => {
  const code = "webhook_signature_components_incomplete";
  const five = ["@method", "@target-uri", "@authority", "content-type", "content-digest"];
  const lists = [
    ...five.map((left) => five.filter((name) => name !== left)),
    [...five].reverse(),
    [...five, "@query"],
    [...five, "date"],
    [],
  ];
  for (const names of lists) {
    const other = input.replace(/\(.*\)/, `(${names.map((name) => `"${name}"`).join(" ")})`);
    refuses(withHeaders(good, { "Signature-Input": other }), code, 6);
  }
  refuses(withHeaders(good, { "Signature-Input": input.replace('"@method"', '"@method";req') }), code, 6);
  refuses(withHeaders(good, { "Content-Digest": undefined }), code, 6);
  refuses(withHeaders(good, { "Content-Type": undefined }), code, 6);
});

test("step 7 refuses a key that is unknown", () => {
  const other = withHeaders(good, { "Signature-Input": input.replace(KID, "other") });
  refuses(other, "webhook_signature_key_unknown", 7);
  const source = (code: "key_unknown" | "untrusted"): KeySource => ({
    resolve: () => ({ ok: false, code, detail: "why" }),
  });
  assert.is(refuses(good, "webhook_signature_key_unknown", 7, { keys: source("key_unknown") }).detail, "why");
  assert.is(refuses(good, "webhook_signature_key_unknown", 7, { keys: source("untrusted") }).keyid, KID);
});

test("step 8 refuses a key of another purpose", () => {
  const wrong: object[] = [
    { use: "enc" },
    { use: undefined },
    { key_ops: ["sign"] },
    { key_ops: undefined },
    { key_ops: "verify" },
    { proto_use: "response-signing" },
    { proto_use: "governance-signing" },
    { proto_use: undefined },
    { proto_use: ["request-signing"] },
    { proto_use: undefined, adcp_use: "request-signing" },
    { alg: "ES256" },
    { alg: "Ed25519" },
    { alg: undefined },
    { kty: "EC", crv: "P-256" },
    { crv: "Ed448" },
    { kty: "RSA" },
    { x: "AAAA" },
    { x: undefined },
    { x: 5 },
  ];
  for (const members of wrong) {
    const published = { ...key, jwk: { ...key.jwk, ...members } };
    const result = refuses(good, "webhook_signature_key_purpose_invalid", 8, {}, published);
    assert.is(result.sender, SENDER);
  }
  const off = { ...es256, jwk: { ...es256.jwk, y: es256.jwk.x } };
  refuses(signed(es256), "webhook_signature_key_purpose_invalid", 8, {}, off as never);
  for (const use of ["request-signing", "webhook-signing"]) {
    assert.ok(verifyWebhookSync(good, optionsFor({ ...key, jwk: { ...key.jwk, proto_use: use } })).ok);
  }
});

test("step 9 refuses a revoked key, and a list of those that is stale", () => {
  refuses(good, "webhook_signature_key_revoked", 9, { revocation: { check: () => "revoked" } });
  refuses(good, "webhook_signature_revocation_stale", 9, { revocation: { check: () => "stale" } });
  const pinned = (revokedAt: number): KeySource => ({
    resolve: () => ({ ok: true, key: verificationKey(key.jwk, revokedAt), sender: SENDER }),
  });
  refuses(good, "webhook_signature_key_revoked", 9, { keys: pinned(NOW) });
  assert.ok(verifyWebhookSync(good, optionsFor(key, { keys: pinned(NOW + 1) })).ok);
  const { revocation: _, ...without } = optionsFor(key);
  assert.ok(verifyWebhookSync(good, without).ok);
  const asked: unknown[] = [];
  const revocation = {
    check: (...args: unknown[]) => {
      asked.push(...args);
      return "good" as const;
    },
  };
  assert.ok(verifyWebhookSync(good, optionsFor(key, { revocation })).ok);
  assert.equal(asked, [KID, SENDER, NOW]);
});

test("step 9a refuses abuse before any cryptography", () => {
  const replay = memoryReplayStore({ perKeyCap: 1 });
  replay.insert(KID, "filler", NOW + 100, NOW);
  const unsigned = withHeaders(good, { Signature: `sig1=:${"A".repeat(86)}:` });
  refuses(unsigned, "webhook_signature_rate_abuse", "9a", { replay });
});

test("step 10 refuses a target that is no URI", () => {
  const code = "webhook_target_uri_malformed";
  refuses({ ...good, url: "https:///p" }, code, 10);
  refuses({ ...good, url: "https://buyer.example.com/%zz" }, code, 10);
  refuses(withHeaders(good, { Host: "evil.example.com" }), code, 10);
  refuses(withHeaders(good, { Host: "buyer.example.com:8443" }), code, 10);
  refuses(withHeaders(good, { Host: "" }), code, 10);
  refuses(withHeaders(good, { Host: "user@buyer.example.com" }), code, 10);
  refuses(withHeaders(good, { Host: "buyer.example.com", ":authority": "other.example.com" }), code, 10);
  for (const host of ["buyer.example.com", "BUYER.example.com", "buyer.example.com:443", "buyer.example.com."]) {
    assert.ok(
      verifyWebhookSync(withHeaders(good, { Host: host, ":authority": "buyer.example.com" }), optionsFor(key)).ok,
      host,
    );
  }
});

test("step 10 refuses a signature that is not of the key", () => {
  const code = "webhook_signature_invalid";
  refuses({ ...good, url: good.url.replace("a=1", "a=2") }, code, 10);
  refuses({ ...good, method: "PUT" }, code, 10);
  refuses(withHeaders(good, { "Content-Type": "application/json; charset=utf-8" }), code, 10);
  refuses(withHeaders(good, { Signature: `sig1=:${"A".repeat(86)}:` }), code, 10);
  refuses(withHeaders(good, { Signature: "sig1=:AAAA:" }), code, 10);
  refuses(good, code, 10, {}, makeKey());
  refuses(signed(es256), code, 10, {}, makeKey("P-256"));
});

test("step 11 refuses a body of another digest", () => {
  const code = "webhook_signature_digest_mismatch";
  refuses({ ...good, body: bytes("{}") }, code, 11);
  refuses({ ...good, body: new Uint8Array() }, code, 11);
});

test("step 12 refuses what came before", () => {
  const replay = memoryReplayStore();
  assert.ok(verifyWebhookSync(good, optionsFor(key, { replay })).ok);
  refuses(good, "webhook_signature_replayed", 12, { replay });
  refuses(good, "webhook_signature_replayed", 12, { replay: { ...memoryReplayStore(), check: () => true } });
  const late = { replay, now: () => NOW + 360 };
  refuses(good, "webhook_signature_replayed", 12, late);
});

test("13: rate_abuse when the cap is reached between 9a and the insert", () => {
  const replay: ReplayStore = { atCap: () => false, insert: () => "full" };
  refuses(good, "webhook_signature_rate_abuse", 13, { replay });
});

test("14: webhook_body_malformed, and the nonce is burned", () => {
  const send = (body: string | Uint8Array): SignedRequest => {
    const raw = typeof body === "string" ? bytes(body) : body;
    const digest = `sha-256=:${createHash("sha256").update(raw).digest("base64url")}:`;
    const base = (verifyWebhookSync(good, optionsFor(key)) as { signatureBase: string }).signatureBase;
    const changed = { ...withHeaders(good, { "Content-Digest": digest }), body: raw };
    return forge(key, changed, input.slice("sig1=".length), base.replace(good.headers["Content-Digest"]!, digest));
  };
  for (const body of [
    '{"a":1,"a":2}',
    '{"x":[{"a":1,"\\u0061":2}]}',
    "",
    "not json",
    '{"a":',
    Uint8Array.from([0x22, 0xff, 0x22]),
  ]) {
    const replay = memoryReplayStore();
    const request = send(body);
    refuses(request, "webhook_body_malformed", 14, { replay });
    refuses(request, "webhook_signature_replayed", 12, { replay });
  }
  const { keys, detail } = refuses(send('{"a\\nb":1,"a\\nb":2}'), "webhook_body_malformed", 14);
  assert.equal(keys, ["<sanitized:1>"]);
  assert.is(detail, "duplicate object keys: <sanitized:1>");
});

test("a webhook of another mode than registered is refused: webhook_mode_mismatch", () => {
  refuses(good, "webhook_mode_mismatch", 0, { mode: "HMAC-SHA256" });
  refuses(good, "webhook_mode_mismatch", 0, { mode: "Bearer" });
  const bare = withHeaders(good, { Signature: undefined, "Signature-Input": undefined });
  refuses(withHeaders(bare, { "X-Proto-Signature": "sha256=00" }), "webhook_mode_mismatch", 0);
  refuses(withHeaders(bare, { Authorization: "Bearer token" }), "webhook_mode_mismatch", 0);
  refuses(withHeaders(bare, { Authorization: "Basic token" }), "webhook_signature_header_malformed", 1);
  assert.ok(
    verifyWebhookSync(withHeaders(good, { Authorization: "Bearer x", "X-Proto-Signature": "y" }), optionsFor(key)).ok,
  );
});

test("every code of the webhook taxonomy was reached", () => {
  assert.equal([...reached].sort(), Object.keys(webhookCodes).sort());
});

test.run();
