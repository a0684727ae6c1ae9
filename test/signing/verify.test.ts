/** Webhooks that hold: in which shapes, what is consumed of them and when, and sources that fail. */
import { createHash } from "node:crypto";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import {
  type KeySource,
  memoryReplayStore,
  type ReplayStore,
  verificationKey,
  verifyWebhook,
  verifyWebhookSync,
} from "../../runtime/signing/index.js";
import { bytes, forge, KID, keysOf, NOW, optionsFor, SENDER, signed, webhook, withHeaders } from "./fixtures.js";
import { es256, good, input, key, refuses } from "./webhook-refusal.js";

test("accepts what was signed, with either algorithm", async () => {
  for (const one of [key, es256]) {
    const request = signed(one);
    const result = await verifyWebhook(request, optionsFor(one));
    assert.ok(result.ok, JSON.stringify(result));
    assert.is(result.keyid, KID);
    assert.is(result.sender, SENDER);
    assert.is(result.alg, one === key ? "ed25519" : "ecdsa-p256-sha256");
    assert.is(result.label, "sig1");
    assert.is(result.created, NOW);
    assert.is(result.expires, NOW + 300);
    assert.equal(result.json, JSON.parse(new TextDecoder().decode(request.body)));
    assert.equal({ ...result }.json, result.json);
  }
});

test("headers are taken in every shape", () => {
  const lower = Object.fromEntries(Object.entries(good.headers).map(([name, value]) => [name.toLowerCase(), value]));
  const distinct = Object.fromEntries(Object.entries(lower).map(([name, value]) => [name, [value]]));
  for (const headers of [lower, distinct, Object.entries(lower), new Headers(lower), new Map(Object.entries(lower))]) {
    assert.ok(verifyWebhookSync({ ...good, headers: headers as never }, optionsFor(key)).ok);
  }
});

test("the method is compared in upper case", () => {
  assert.ok(verifyWebhookSync({ ...good, method: "post" }, optionsFor(key)).ok);
});

test("a signature of one label does not hold for another list of it", () => {
  const { signatureBase } = verifyWebhookSync(good, optionsFor(key)) as { signatureBase: string };
  const list = input.slice("sig1=".length);
  assert.ok(verifyWebhookSync(forge(key, good, list, signatureBase), optionsFor(key)).ok);
  refuses(forge(key, good, list.replace('" "', '"  "'), signatureBase), "webhook_signature_invalid", 10);
});

test("11: a digest is accepted in either alphabet", () => {
  const base = (verifyWebhookSync(good, optionsFor(key)) as { signatureBase: string }).signatureBase;
  const ours = good.headers["Content-Digest"]!;
  for (const encoded of ["base64", "base64url"] as const) {
    const other = `sha-256=:${createHash("sha256").update(good.body).digest(encoded)}:`;
    const changed = withHeaders(good, { "Content-Digest": other });
    const forged = forge(key, changed, input.slice("sig1=".length), base.replace(ours, other));
    assert.ok(verifyWebhookSync(forged, optionsFor(key)).ok, encoded);
  }
});

test("nothing is inserted before the signature and the digest hold", () => {
  const replay = memoryReplayStore();
  const refused = [withHeaders(good, { Signature: `sig1=:${"A".repeat(86)}:` }), { ...good, body: bytes("{}") }];
  for (const request of refused) assert.not(verifyWebhookSync(request, optionsFor(key, { replay })).ok);
  assert.is(replay.size, 0);
  assert.ok(verifyWebhookSync(good, optionsFor(key, { replay })).ok);
  assert.is(replay.size, 1);
});

test("a nonce is kept as long as its signature can pass, and for its key only", () => {
  const kept: unknown[][] = [];
  const replay: ReplayStore = {
    atCap: () => false,
    insert: (...args) => {
      kept.push(args);
      return "inserted";
    },
  };
  assert.ok(verifyWebhookSync(good, optionsFor(key, { replay })).ok);
  const nonce = /nonce="([^"]*)"/.exec(input)![1];
  assert.equal(kept, [[KID, nonce, NOW + 300 + 60, NOW]]);
});

test("a source that fails is unavailable: 503, retryable, nothing consumed", async () => {
  const broken = () => {
    throw new Error("down");
  };
  const rejecting = async () => broken();
  const replay = memoryReplayStore();
  const cases: [object, string][] = [];
  for (const fail of [broken, rejecting]) {
    cases.push([{ keys: { resolve: fail } }, "keys_unavailable"]);
    cases.push([{ revocation: { check: fail } }, "revocation_unavailable"]);
    cases.push([{ replay: { atCap: fail, insert: () => "inserted" } }, "replay_unavailable"]);
    cases.push([{ replay: { atCap: () => false, insert: fail } }, "replay_unavailable"]);
    cases.push([{ replay: { atCap: () => false, check: fail, insert: () => "inserted" } }, "replay_unavailable"]);
  }
  cases.push([{ revocation: { check: () => "unavailable" } }, "revocation_unavailable"]);
  cases.push([
    { keys: { resolve: () => ({ ok: false, code: "unavailable", retryAfterSeconds: 30 }) } },
    "keys_unavailable",
  ]);
  for (const [more, code] of cases) {
    const result = await verifyWebhook(good, optionsFor(key, { replay, ...more }));
    assert.ok(!result.ok);
    assert.is(result.code, code);
    assert.is(result.status, 503);
    assert.is(result.retryable, true);
    if (code === "keys_unavailable" && result.retryAfterSeconds !== undefined) assert.is(result.retryAfterSeconds, 30);
  }
  assert.is(replay.size, 0);
});

test("sources may answer with promises", async () => {
  const replay = memoryReplayStore();
  const keys = keysOf(key);
  const slow: object = {
    keys: { resolve: async (keyid: string) => keys.resolve(keyid) },
    revocation: { check: async () => "good" },
    replay: {
      atCap: async () => false,
      check: async () => false,
      insert: async (...args: [string, string, number, number]) => replay.insert(...args),
    },
  };
  assert.ok((await verifyWebhook(good, optionsFor(key, slow))).ok);
  const again = await verifyWebhook(good, optionsFor(key, slow));
  assert.is(again.ok ? "" : again.code, "webhook_signature_replayed");
});

test("the synchronous functions say when a source is not", () => {
  const keys = { resolve: async () => Promise.reject(new Error("down")) };
  try {
    verifyWebhookSync(good, optionsFor(key, { keys }));
    assert.unreachable();
  } catch (error) {
    assert.instance(error, AdbindError);
    assert.is((error as AdbindError).code, "source_asynchronous");
  }
});

test("a key is imported once", () => {
  const wrapped = verificationKey(key.jwk);
  const keys: KeySource = { resolve: () => ({ ok: true, key: wrapped, sender: SENDER }) };
  assert.ok(verifyWebhookSync(good, optionsFor(key, { keys })).ok);
  const { imported } = wrapped;
  assert.ok(imported);
  assert.ok(
    verifyWebhookSync(signed(key, webhook({ url: "https://buyer.example.com/2" })), optionsFor(key, { keys })).ok,
  );
  assert.is(wrapped.imported, imported);
});

test.run();
