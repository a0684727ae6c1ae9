/** Standard Webhooks: what another implementation signed is taken, byte for byte what it would sign is sent, and what is refused. */
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import * as node from "../../runtime/signing/index.js";
import { createSigning } from "../../runtime/signing/signing.js";
import { webCrypto } from "../../runtime/signing/web-crypto.js";
import { codeOf } from "../support/thrown.js";
import { readJson } from "./corpus.js";
import { bytes } from "./fixtures.js";

interface StandardVector {
  readonly secret: string;
  readonly id: string;
  readonly at: number;
  readonly body: string;
  readonly headers: Record<string, string>;
}

const { vectors } = readJson(path.join(import.meta.dirname, "standard-webhooks.vectors.json")) as {
  vectors: StandardVector[];
};
const [first, second] = vectors as [StandardVector, StandardVector];
const codeFrom = (result: node.LegacyResult): string => (result.ok ? "ok" : result.code);

const verifying = async (headers: node.HeaderFields, { body = first.body, at = first.at, previous = "" } = {}) => {
  const secrets = { current: first.secret, ...(previous !== "" && { previous }) };
  const request = { headers, body: bytes(body) };
  return codeFrom(await node.verifyStandardWebhook(request, { secrets, now: () => at }));
};

for (const [name, signing] of Object.entries({ node, web: createSigning(webCrypto) })) {
  test(`${name}: the vectors of the official Python SDK verify, and are signed alike`, async () => {
    for (const { secret, id, at, body, headers } of vectors) {
      const now = () => at;
      assert.equal(await signing.signStandardWebhook(bytes(body), { secret, id, now }), headers);
      const result = await signing.verifyStandardWebhook(
        { headers, body: bytes(body) },
        { secrets: { current: secret }, sender: "https://s.example/a", now },
      );
      assert.equal(result, { ok: true, sender: "https://s.example/a", json: JSON.parse(body) });
    }
  });
}

test("one of several signatures is enough, of versions that are known", async () => {
  const { headers } = first;
  const good = headers["webhook-signature"]!;
  const other = second.headers["webhook-signature"]!;
  const signedAs = (signature: string) => verifying({ ...headers, "webhook-signature": signature });
  assert.is(await signedAs(`${other} ${good}`), "ok");
  assert.is(await signedAs(`v1a,AAAA ${good}`), "ok");
  for (const wrong of [
    other,
    good.slice(3),
    good.replace("v1,", "v2,"),
    `v1,${good.slice(3, -1)}`,
    "v1,",
    `${good},`,
  ]) {
    assert.is(await signedAs(wrong), "hmac_signature_invalid", wrong);
  }
  assert.is(await signedAs(`${`${other} `.repeat(100)}${good}`), "hmac_signature_invalid", "more than are looked at");
});

test("the secret before is taken while rotating; another body, id or time is not", async () => {
  const { headers, body, at } = second;
  assert.is(await verifying(headers, { body, at, previous: second.secret }), "ok");
  assert.is(await verifying(headers, { body, at }), "hmac_signature_invalid");
  assert.is(await verifying(first.headers, { body: `${first.body} ` }), "hmac_signature_invalid");
  assert.is(await verifying({ ...first.headers, "webhook-id": "msg_1" }), "hmac_signature_invalid");
  const later = { ...first.headers, "webhook-timestamp": String(first.at + 1) };
  assert.is(await verifying(later), "hmac_signature_invalid");
});

test("a timestamp is at most 300 seconds away, either way", async () => {
  for (const away of [-300, 300]) assert.is(await verifying(first.headers, { at: first.at + away }), "ok");
  for (const away of [-301, 301]) {
    assert.is(await verifying(first.headers, { at: first.at + away }), "hmac_timestamp_invalid");
  }
  for (const timestamp of ["soon", "1.7e9", "-1", `${first.at}.5`]) {
    assert.is(await verifying({ ...first.headers, "webhook-timestamp": timestamp }), "hmac_timestamp_invalid");
  }
});

test("what has no headers of it is told so", async () => {
  for (const name of Object.keys(first.headers)) {
    const { [name]: _, ...rest } = first.headers;
    assert.is(await verifying(rest), "hmac_signature_missing", name);
  }
  assert.is(await verifying({ "signature-input": "sig1=()", signature: "sig1=:AA==:" }), "webhook_mode_mismatch");
});

test("a secret that is none, and an id that divides, are refused before anything is signed", async () => {
  const sign = (secret: string, id = "msg_1") =>
    codeOf(() => node.signStandardWebhook(bytes("{}"), { secret, id, now: () => 0 }));
  const { secret } = first;
  for (const weak of [
    secret.slice("whsec_".length),
    secret.slice(0, -4),
    `${secret}${secret.slice(6)}${secret.slice(6)}`,
    `whsec_${"A".repeat(32)}`,
    `${secret.slice(0, -1)}!`,
    "whsec_",
  ]) {
    assert.is(await sign(weak), "secret_weak", weak);
  }
  for (const id of ["", "a.b", "a b", "é", "x".repeat(256)])
    assert.is(await sign(secret, id), "webhook_id_invalid", id);
});

test.run();
