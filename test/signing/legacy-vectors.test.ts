/** HMAC-SHA256: the published vectors, with either cryptography. */
import { existsSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import * as node from "../../runtime/signing/index.js";
import * as web from "../../runtime/signing/web.js";
import { codeOf } from "../support/thrown.js";
import { corpusFile, readJson } from "./corpus.js";
import { bytes } from "./fixtures.js";
import { quiet } from "./legacy-fixture.js";

interface HmacVectors {
  secret: string;
  vectors: {
    id: string;
    timestamp: number;
    raw_body: string;
    expected_signature: string;
    expected_verifier_action?: string;
    rfc9421_error_code?: string;
  }[];
  rejection_vectors: {
    id: string;
    timestamp: number | string;
    raw_body: string;
    signature: string | null;
    current_time?: number;
  }[];
  secret_rejection_vectors: { description: string; secret: string }[];
  signer_side: {
    rejection_vectors: { id: string; signer_input_body: string }[];
    positive_vectors: { id: string; signer_input_body: string }[];
  };
}

type Hmac = Pick<node.Signing, "signHmac" | "verifyHmac">;

/** One build of the signing, under one protocol word, and the vectors' secret. */
interface Tried extends Hmac {
  readonly name: string;
  readonly word: string;
  readonly secret: string;
}

const headersOf = (word: string, signature: string | null, timestamp: unknown) => ({
  ...(signature !== null && { [`X-${word.toUpperCase()}-Signature`]: signature }),
  [`X-${word.toUpperCase()}-Timestamp`]: String(timestamp),
});
const optionsAt = (word: string, now: number) => ({ ...quiet, word, now: () => now });

function acceptedVectors({ name, word, secret, signHmac, verifyHmac }: Tried, { vectors }: HmacVectors): void {
  for (const one of vectors) {
    const { id, timestamp, raw_body, expected_signature, expected_verifier_action } = one;
    const options = optionsAt(word, timestamp);
    test(`hmac ${name} ${word} signs and verifies ${id} as published`, async () => {
      const body = bytes(raw_body);
      const request = { headers: headersOf(word, expected_signature, timestamp), body };
      const result = await verifyHmac(request, { ...options, secrets: { current: secret } });
      if (expected_verifier_action === "reject-malformed") {
        assert.is(result.ok ? "" : result.code, one.rfc9421_error_code);
        assert.is(await codeOf(() => signHmac(body, { ...options, secret })), "duplicate_key_input");
        return;
      }
      assert.ok(result.ok, JSON.stringify(result));
      const made = await signHmac(body, { ...options, secret });
      assert.is(made[`x-${word}-signature`], expected_signature);
      assert.is(made[`x-${word}-timestamp`], String(timestamp));
    });
  }
}

function refusedVectors({ name, word, secret, verifyHmac }: Tried, { rejection_vectors }: HmacVectors): void {
  for (const { id, timestamp, raw_body, signature, current_time } of rejection_vectors) {
    test(`hmac ${name} ${word} refuses: ${id}`, async () => {
      const now = current_time ?? (typeof timestamp === "number" ? timestamp : 1_700_000_000);
      const request = { headers: headersOf(word, signature, timestamp), body: bytes(raw_body) };
      const result = await verifyHmac(request, { ...optionsAt(word, now), secrets: { current: secret } });
      assert.ok(!result.ok);
      const expected = /timestamp/.test(id)
        ? "hmac_timestamp_invalid"
        : /^(missing|empty)/.test(id)
          ? "hmac_signature_missing"
          : "hmac_signature_invalid";
      assert.is(result.code, expected);
      assert.is(result.status, 401);
    });
  }
}

function signerVectors({ name, word, secret, signHmac, verifyHmac }: Tried, { signer_side }: HmacVectors): void {
  for (const { id, signer_input_body } of signer_side.rejection_vectors) {
    test(`hmac ${name} ${word} does not sign: ${id}`, async () => {
      const signing = () => signHmac(bytes(signer_input_body), { ...optionsAt(word, 1), secret });
      assert.is(await codeOf(signing), "duplicate_key_input");
    });
  }
  for (const { id, signer_input_body } of signer_side.positive_vectors) {
    test(`hmac ${name} ${word} signs: ${id}`, async () => {
      const body = bytes(signer_input_body);
      const options = optionsAt(word, 5);
      const made = await signHmac(body, { ...options, secret });
      assert.ok((await verifyHmac({ headers: made, body }, { ...options, secrets: { current: secret } })).ok);
    });
  }
}

function secretVectors({ name, word, signHmac, verifyHmac }: Tried, { secret_rejection_vectors }: HmacVectors): void {
  for (const { description, secret: weak } of secret_rejection_vectors) {
    test(`hmac ${name} ${word} holds what is published: ${description}`, async () => {
      const options = optionsAt(word, 1);
      assert.is(await codeOf(() => signHmac(bytes("{}"), { ...options, secret: weak })), "secret_weak");
      const verifying = () =>
        verifyHmac({ headers: {}, body: bytes("{}") }, { ...options, secrets: { current: weak } });
      assert.is(await codeOf(verifying), "secret_weak");
    });
  }
}

function hmacVectors(name: string, { signHmac, verifyHmac }: Hmac): void {
  const file = corpusFile("webhook-hmac-sha256.json");
  if (!existsSync(file)) {
    test(`hmac vectors are skipped for ${name} where there is no corpus`, () =>
      console.log("skipped: no corpus for the HMAC vectors"));
    return;
  }
  const corpus: HmacVectors = readJson(file);
  for (const word of ["adcp", "proto"])
    for (const some of [acceptedVectors, refusedVectors, signerVectors, secretVectors])
      some({ name, word, secret: corpus.secret, signHmac, verifyHmac }, corpus);
}

hmacVectors("node", node);
hmacVectors("web", web);

test.run();
