/** What signers emit, and what they refuse to sign. */
import { generateKeyPairSync } from "node:crypto";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import {
  challengeOf,
  isJsonContentType,
  memoryReplayStore,
  signRequestSync,
  signWebhook,
  signWebhookSync,
  staticKeys,
  verificationCodes,
} from "../../runtime/signing/index.js";
import * as web from "../../runtime/signing/web.js";
import { bytes, KID, makeKey, NOW, webhook } from "./fixtures.js";

const key = makeKey();
const options = { key: key.privateKey, keyid: KID, now: () => NOW };

const throws = (run: () => unknown, code: string): AdbindError => {
  try {
    run();
  } catch (error) {
    assert.instance(error, AdbindError);
    assert.is((error as AdbindError).code, code);
    return error as AdbindError;
  }
  assert.unreachable(`expected ${code}`);
  throw new Error();
};

test("a signature's fields are in the spelling that verifiers know", () => {
  const nonce = "KXYnfEfJ0PBRZXQyVXfVQA";
  const { headers, signatureBase } = signWebhookSync(webhook(), { ...options, nonce });
  assert.equal(Object.keys(headers), ["Content-Type", "Content-Digest", "Signature-Input", "Signature"]);
  assert.is(headers["Content-Type"], "application/json");
  assert.match(headers["Content-Digest"]!, /^sha-256=:[A-Za-z0-9_-]{43}:$/);
  assert.match(headers.Signature, /^sig1=:[A-Za-z0-9_-]{86}:$/);
  const params = `("@method" "@target-uri" "@authority" "content-type" "content-digest");created=${NOW};expires=${NOW + 300};nonce="${nonce}";keyid="${KID}";alg="ed25519";tag="proto/webhook-signing/v1"`;
  assert.is(headers["Signature-Input"], `sig1=${params}`);
  assert.is(
    signatureBase,
    [
      '"@method": POST',
      '"@target-uri": https://buyer.example.com/webhooks/op_1?b=2&a=1',
      '"@authority": buyer.example.com',
      '"content-type": application/json',
      `"content-digest": ${headers["Content-Digest"]}`,
      `"@signature-params": ${params}`,
    ].join("\n"),
  );
});

test("what is signed is the canonical target", () => {
  const { signatureBase } = signWebhookSync(webhook({ url: "HTTPS://B\u00fccher.Example:443/a/../%7e" }), options);
  assert.match(signatureBase, '"@target-uri": https://xn--bcher-kva.example/~\n"@authority": xn--bcher-kva.example\n');
});

test("each signature has its own nonce of 16 bytes", () => {
  const nonces = Array.from(
    { length: 100 },
    () => /nonce="([^"]*)"/.exec(signWebhookSync(webhook(), options).headers["Signature-Input"])![1]!,
  );
  assert.is(new Set(nonces).size, 100);
  for (const nonce of nonces) assert.match(nonce, /^[A-Za-z0-9_-]{22}$/);
});

test("keys come as JWK or as the platform's objects", async () => {
  const nonce = "KXYnfEfJ0PBRZXQyVXfVQA";
  const jwk = key.privateKey.export({ format: "jwk" });
  const expected = signWebhookSync(webhook(), { ...options, nonce }).headers;
  assert.equal(signWebhookSync(webhook(), { ...options, nonce, key: jwk }).headers, expected);
  assert.equal((await web.signWebhook(webhook(), { ...options, nonce, key: jwk })).headers, expected);
  const parameters = { name: "Ed25519" };
  const imported = await crypto.subtle.importKey("jwk", jwk as never, parameters, false, ["sign"]);
  assert.equal((await web.signWebhook(webhook(), { ...options, nonce, key: imported })).headers, expected);
});

test("unusable keys are refused when signing", async () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const wrong = [
    {},
    key.jwk,
    { ...key.jwk, d: "AAAA" },
    rsa.privateKey,
    rsa.publicKey,
    p384.privateKey,
    p384.privateKey.export({ format: "jwk" }),
    makeKey().jwk,
  ];
  for (const one of wrong) throws(() => signWebhookSync(webhook(), { ...options, key: one }), "signing_key_invalid");
  const subtle = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-384" }, false, ["sign", "verify"]);
  for (const one of [{}, key.jwk, subtle.privateKey, subtle.publicKey]) {
    const outcome = await web
      .signWebhook(webhook(), { ...options, key: one })
      .catch((error: AdbindError) => error.code);
    assert.is(outcome, "signing_key_invalid");
  }
  const hidden = throws(
    () => signWebhookSync(webhook(), { ...options, key: { ...key.jwk, d: "c2VjcmV0" } }),
    "signing_key_invalid",
  );
  assert.not.match(hidden.message, "c2VjcmV0");
});

test("bodies with two readings or none are refused", () => {
  const error = throws(
    () => signWebhookSync(webhook({ body: bytes('{"a":{"b":1,"b":2}}') }), options),
    "duplicate_key_input",
  );
  assert.match(error.message, "duplicate object keys: b");
  for (const body of ["", "x", "{", "\ufeff{}"]) {
    throws(() => signWebhookSync(webhook({ body: bytes(body) }), options), "body_not_json");
  }
});

test("URLs without canonical form are refused", () => {
  for (const url of ["", "/p", "https:///p", "https://a b/", "ftp://x.example/"]) {
    throws(() => signWebhookSync(webhook({ url }), options), "target_url_malformed");
  }
});

test("options that no verifier would take are refused", () => {
  const wrong: [object, string][] = [
    [{ keyid: "" }, "keyid"],
    [{ keyid: 'a"b' }, "keyid"],
    [{ keyid: "a\nb" }, "keyid"],
    [{ nonce: "short" }, "nonce"],
    [{ nonce: "not+base64url+not+base64url" }, "nonce"],
    [{ windowSeconds: 301 }, "windowSeconds"],
    [{ windowSeconds: 0 }, "windowSeconds"],
    [{ windowSeconds: 1.5 }, "windowSeconds"],
  ];
  for (const [more, where] of wrong) {
    assert.is(throws(() => signWebhookSync(webhook(), { ...options, ...more }), "signing_option_invalid").where, where);
  }
  for (const type of ["text/plain", "application/json; charset=utf-8"]) {
    throws(() => signWebhookSync(webhook({ headers: { "content-type": type } }), options), "signing_option_invalid");
  }
  assert.ok(signWebhookSync(webhook({ headers: { "content-type": "application/json" } }), options));
  throws(
    () => signRequestSync(webhook({ headers: { "content-type": "a/b, c/d" } }), options),
    "signing_option_invalid",
  );
});

test("asynchronous signing rejects with the same errors", async () => {
  const outcome = await signWebhook(webhook({ url: "x" }), options).catch((error: AdbindError) => error.code);
  assert.is(outcome, "target_url_malformed");
});

test("caps and key sets are checked when made", () => {
  for (const cap of [0, -1, 1.5, Number.NaN]) {
    throws(() => memoryReplayStore({ perKeyCap: cap }), "signing_option_invalid");
    throws(() => memoryReplayStore({ totalCap: cap }), "signing_option_invalid");
  }
  throws(() => staticKeys([key.jwk, key.jwk], { sender: "s" }), "key_set_invalid");
  throws(() => staticKeys({ keys: [{ ...key.jwk, kid: "" }] }, { sender: "s" }), "key_set_invalid");
});

test("challenges carry the code, quoted, where the answer is 401", () => {
  assert.is(challengeOf("webhook_signature_invalid"), 'Signature error="webhook_signature_invalid"');
  assert.is(challengeOf("webhook_body_malformed"), 'Signature error="webhook_body_malformed"');
  assert.is(challengeOf("request_signature_required"), 'Signature error="request_signature_required"');
  for (const code of ["keys_unavailable", "request_signature_jwks_unavailable", "hmac_signature_invalid"] as const) {
    assert.is(challengeOf(code), undefined);
  }
  for (const [code, { status, retryable }] of Object.entries(verificationCodes))
    assert.is(retryable, status === 503, code);
});

test("a JSON media type is told from others, whatever its case and parameters", () => {
  for (const type of [
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "application/json ;x",
    "application/problem+json",
  ]) {
    assert.ok(isJsonContentType(type), type);
  }
  for (const type of [
    undefined,
    "",
    "text/json",
    "application/jsonx",
    "application/json, text/plain",
    "application/+json",
    "xapplication/json",
  ]) {
    assert.not(isJsonContentType(type), String(type));
  }
});

test.run();
