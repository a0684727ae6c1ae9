/** The published URL canonicalisation cases, which come with the protocol's SDK. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { canonicalUrl } from "../../runtime/url.js";

interface Case {
  name: string;
  input_url: string;
  expected_target_uri?: string;
  expected_authority?: string;
}

const file = path.join(
  import.meta.dirname,
  "peer/node_modules/@adcp/sdk/compliance/cache/3.0.6/test-vectors/request-signing/canonicalization.json",
);

test("a signer gives every published case its form, or refuses it", () => {
  if (!existsSync(file)) {
    console.log("skipped: the peer SDK is not installed (npm ci in test/interop/peer)");
    return;
  }
  const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: Case[] };
  assert.ok(cases.length > 20);
  for (const { name, input_url, expected_target_uri, expected_authority } of cases) {
    const result = canonicalUrl(input_url, { unicodeHost: "convert" });
    assert.is(result.ok ? result.url : undefined, expected_target_uri, name);
    if (expected_target_uri !== undefined) assert.is(result.ok && result.authority, expected_authority, name);
  }
});

test.run();
