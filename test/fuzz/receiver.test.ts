/** The short form of `./run fuzz receiver`. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runFuzz } from "./receiver-run.js";

const COUNT = 20_000;

test(`${COUNT} mutated requests: no crash, no 5xx, nothing accepted that was not signed`, async () => {
  const { statuses, count } = await runFuzz(COUNT, 20_260_418);
  assert.ok(count >= COUNT);
  // Mutations must reach every stage, or the run says nothing.
  for (const reached of [
    "200 accepted",
    "200 duplicate",
    "400 missing_envelope_fields",
    "401 webhook_signature_digest_mismatch",
    "401 webhook_signature_header_malformed",
    "401 webhook_signature_invalid",
    "401 webhook_mode_mismatch",
    "401 webhook_body_malformed",
    "404 unknown_route",
    "405 method_not_allowed",
    "415 unsupported_media_type",
  ]) {
    assert.ok((statuses[reached] ?? 0) > 0, `${reached}: ${JSON.stringify(statuses)}`);
  }
});

test.run();
