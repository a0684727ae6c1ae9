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

function hmacVectors(name: string, { signHmac, verifyHmac }: Pick<node.Signing, "signHmac" | "verifyHmac">): void {
  const file = corpusFile("webhook-hmac-sha256.json");
  if (!existsSync(file)) {
    test(`hmac vectors ${name}`, () => console.log("skipped: no corpus for the HMAC vectors"));
    return;
  }
  const corpus: HmacVectors = readJson(file);
  const { secret } = corpus;
  for (const word of ["adcp", "proto"]) {
    const headers = (signature: string | null, timestamp: unknown) => ({
      ...(signature !== null && { [`X-${word.toUpperCase()}-Signature`]: signature }),
      [`X-${word.toUpperCase()}-Timestamp`]: String(timestamp),
    });
    const options = (now: number) => ({ ...quiet, word, now: () => now });
    for (const {
      id,
      timestamp,
      raw_body,
      expected_signature,
      expected_verifier_action,
      rfc9421_error_code,
    } of corpus.vectors) {
      test(`hmac ${name} ${word}: ${id}`, async () => {
        const body = bytes(raw_body);
        const request = { headers: headers(expected_signature, timestamp), body };
        const result = await verifyHmac(request, { ...options(timestamp), secrets: { current: secret } });
        if (expected_verifier_action === "reject-malformed") {
          assert.is(result.ok ? "" : result.code, rfc9421_error_code);
          assert.is(await codeOf(() => signHmac(body, { ...options(timestamp), secret })), "duplicate_key_input");
          return;
        }
        assert.ok(result.ok, JSON.stringify(result));
        const made = await signHmac(body, { ...options(timestamp), secret });
        assert.is(made[`x-${word}-signature`], expected_signature);
        assert.is(made[`x-${word}-timestamp`], String(timestamp));
      });
    }
    for (const { id, timestamp, raw_body, signature, current_time } of corpus.rejection_vectors) {
      test(`hmac ${name} ${word} refuses: ${id}`, async () => {
        const now = current_time ?? (typeof timestamp === "number" ? timestamp : 1_700_000_000);
        const request = { headers: headers(signature, timestamp), body: bytes(raw_body) };
        const result = await verifyHmac(request, { ...options(now), secrets: { current: secret } });
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
    for (const { id, signer_input_body } of corpus.signer_side.rejection_vectors) {
      test(`hmac ${name} ${word} does not sign: ${id}`, async () => {
        assert.is(
          await codeOf(() => signHmac(bytes(signer_input_body), { ...options(1), secret })),
          "duplicate_key_input",
        );
      });
    }
    for (const { id, signer_input_body } of corpus.signer_side.positive_vectors) {
      test(`hmac ${name} ${word} signs: ${id}`, async () => {
        const body = bytes(signer_input_body);
        const made = await signHmac(body, { ...options(5), secret });
        assert.ok((await verifyHmac({ headers: made, body }, { ...options(5), secrets: { current: secret } })).ok);
      });
    }
    for (const { description, secret: weak } of corpus.secret_rejection_vectors) {
      test(`hmac ${name} ${word}: ${description}`, async () => {
        assert.is(await codeOf(() => signHmac(bytes("{}"), { ...options(1), secret: weak })), "secret_weak");
        const verifying = () =>
          verifyHmac({ headers: {}, body: bytes("{}") }, { ...options(1), secrets: { current: weak } });
        assert.is(await codeOf(verifying), "secret_weak");
      });
    }
  }
}

hmacVectors("node", node);
hmacVectors("web", web);

test.run();
