/** What to do about a refused signature: by the release's list, and by the first one where it has none. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { missOf } from "../../runtime/buyer/fault.js";
import type { Release } from "../../runtime/contract/index.js";
import { signingRecovery } from "../../runtime/facts/index.js";
import { requestCodes } from "../../runtime/signing/index.js";
import { WireFault } from "../../runtime/transport/fault.js";
import { corpus } from "../support/corpus.js";

const older = release as Release;
const listed = (list: object) =>
  ({
    facts: {
      ...older.facts,
      recovery: { ...older.facts.recovery, codes: { "request-signing-error-code": { value: list } } },
    },
  }) as unknown as Release;

test("a release's own list is the word, and the only one", () => {
  const own = listed({ request_signature_invalid: "terminal" });
  assert.is(signingRecovery(own, "request_signature_invalid"), "terminal");
  for (const code of ["request_signature_replayed", "toString"]) assert.is(signingRecovery(own, code), undefined);
});

test("without one, every code that we answer has a class, and nothing else has", () => {
  assert.not.ok(older.facts.recovery.codes["request-signing-error-code"]);
  for (const code of Object.keys(requestCodes)) assert.ok(signingRecovery(older, code), code);
  assert.is(signingRecovery(older, "request_signature_jwks_unavailable"), "transient");
  assert.is(signingRecovery(undefined, "request_signature_rate_abuse"), "terminal");
  for (const code of ["webhook_signature_invalid", "toString", "request_signature_later", 'request_signature_x"']) {
    assert.is(signingRecovery(older, code), undefined, code);
  }
});

test("a buyer of an older release is told the same", () => {
  const fault = new WireFault("HTTP 401", {
    status: 401,
    challenge: 'Signature error="request_signature_revocation_stale"',
  });
  const { error } = missOf(fault, "proto", older);
  assert.equal([error.code, error.recovery], ["AUTH_REQUIRED", "terminal"]);
});

test("the classes are those of the first list", () => {
  const file = path.join(corpus, "releases/3.2.4/enums/request-signing-error-code.json");
  if (!existsSync(file)) return console.log("skipped: there is no corpus");
  const { enumMetadata, enum: codes } = JSON.parse(readFileSync(file, "utf8"));
  assert.is(codes.length, 29);
  for (const code of codes) assert.is(signingRecovery(older, code), enumMetadata[code].recovery, code);
});

test.run();
