/** The extraction vectors the registry serves are what this code extracts. */
import { readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { extractWebhook } from "../../runtime/extract/index.js";

const file = new URL("../../manifests/registry/webhook-payload-extraction.json", import.meta.url);

test("served extraction vectors hold", () => {
  const { vectors } = JSON.parse(readFileSync(file, "utf8"));
  assert.is(vectors.length, 8);
  for (const { id, payload, format, expected_format, expected_data } of vectors) {
    assert.is(extractWebhook(payload).format, expected_format, id);
    assert.equal(extractWebhook(payload).data, expected_data, id);
    if (format !== null) assert.equal(extractWebhook(payload, format).data, expected_data, id);
  }
});

test.run();
