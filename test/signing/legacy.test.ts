/** HMAC-SHA256 and Bearer: rotation, what is refused, and when the schemes are gone. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import * as node from "../../runtime/signing/index.js";
import { nodeCrypto } from "../../runtime/signing/node-crypto.js";
import { webCrypto } from "../../runtime/signing/web-crypto.js";
import { codeOf } from "../support/thrown.js";
import { bytes } from "./fixtures.js";
import { quiet } from "./legacy-fixture.js";

const SECRET = "6f1d0c7ab2e94c53a8f07b1e5d2c9a34";
const OTHER = "b07c5e91d3a84f2690e1c6a7f5d83b42";

const { signHmac, verifyHmac, verifyBearer } = node;
const NOW = 1_700_000_000;
const body = bytes('{"idempotency_key":"k"}');
const now = () => NOW;
const verifying = (headers: node.HeaderFields, more: object = {}, sent = body) =>
  verifyHmac({ headers, body: sent }, { ...quiet, secrets: { current: SECRET }, now, ...more });
const codeFrom = (result: node.LegacyResult): string => (result.ok ? "ok" : result.code);

test("both secrets are taken while rotating, others are not", async () => {
  const old = await signHmac(body, { ...quiet, secret: OTHER, now });
  const fresh = await signHmac(body, { ...quiet, secret: SECRET, now });
  const secrets = { current: SECRET, previous: OTHER };
  assert.is(codeFrom(await verifying(old, { secrets })), "ok");
  assert.is(codeFrom(await verifying(fresh, { secrets })), "ok");
  assert.is(codeFrom(await verifying(old)), "hmac_signature_invalid");
  const result = await verifying(fresh, { sender: "https://s.example/a" });
  assert.equal(result, { ok: true, sender: "https://s.example/a", json: { idempotency_key: "k" } });
});

test("timestamps are integers, at most 300 seconds away either way", async () => {
  const at = async (timestamp: string) => {
    const made = await signHmac(body, { ...quiet, secret: SECRET, now: () => Number(timestamp) || NOW });
    return codeFrom(await verifying({ ...made, "x-proto-timestamp": timestamp }));
  };
  for (const timestamp of [NOW - 300, NOW, NOW + 300]) assert.is(await at(String(timestamp)), "ok");
  for (const timestamp of [NOW - 301, NOW + 301]) assert.is(await at(String(timestamp)), "hmac_timestamp_invalid");
  for (const timestamp of [`${NOW}.0`, `+${NOW}`, `${NOW}s`, "1.7e9", "0x6553f100", "-1"]) {
    assert.is(await at(timestamp), "hmac_timestamp_invalid", timestamp);
  }
  assert.is(await at(""), "hmac_signature_missing");
});

test("the MAC is over the timestamp's own text", async () => {
  const made = await signHmac(body, { ...quiet, secret: SECRET, now });
  assert.is(codeFrom(await verifying({ ...made, "x-proto-timestamp": `0${NOW}` })), "hmac_signature_invalid");
});

test("there is one signature and one timestamp, in lower-case hex", async () => {
  const made = await signHmac(body, { ...quiet, secret: SECRET, now });
  const signature = made["x-proto-signature"]!;
  const cases: [node.HeaderFields, string][] = [
    [{}, "hmac_signature_missing"],
    [{ "x-proto-signature": signature }, "hmac_signature_missing"],
    [{ "x-proto-timestamp": String(NOW) }, "hmac_signature_missing"],
    [{ ...made, "X-Proto-Signature": signature }, "hmac_signature_invalid"],
    [{ ...made, "x-proto-signature": [signature, signature] }, "hmac_signature_invalid"],
    [{ ...made, "X-PROTO-TIMESTAMP": String(NOW) }, "hmac_timestamp_invalid"],
    [{ ...made, "x-proto-signature": signature.toUpperCase() }, "hmac_signature_invalid"],
    [{ ...made, "x-proto-signature": signature.slice("sha256=".length) }, "hmac_signature_invalid"],
    [{ "x-adcp-signature": signature, "x-adcp-timestamp": String(NOW) }, "hmac_signature_missing"],
  ];
  for (const [headers, code] of cases) assert.is(codeFrom(await verifying(headers)), code, JSON.stringify(headers));
});

test("a signed delivery of a legacy registration is a mode mismatch", async () => {
  const headers = { Signature: "sig1=:AAAA:", "Signature-Input": "sig1=()" };
  assert.is(codeFrom(await verifying(headers)), "webhook_mode_mismatch");
  const bearer = await verifyBearer({ headers, body }, { ...quiet, tokens: { current: SECRET } });
  assert.is(codeFrom(bearer), "webhook_mode_mismatch");
});

test("doubled keys are a malformed body, and only after the MAC holds", async () => {
  const doubled = bytes('{"a":1,"a":2}');
  const { createHmac } = await import("node:crypto");
  const mac = createHmac("sha256", SECRET).update(`${NOW}.`).update(doubled).digest("hex");
  const headers = { "x-proto-signature": `sha256=${mac}`, "x-proto-timestamp": String(NOW) };
  const result = await verifying(headers, {}, doubled);
  assert.ok(!result.ok);
  assert.is(result.code, "webhook_body_malformed");
  assert.equal(result.keys, ["a"]);
  assert.is(
    codeFrom(await verifying({ ...headers, "x-proto-signature": `sha256=${"0".repeat(64)}` }, {}, doubled)),
    "hmac_signature_invalid",
  );
});

test("texts are equal in every character or not at all", () => {
  for (const { equal } of [nodeCrypto, webCrypto]) {
    assert.ok(equal("abc", "abc"));
    for (const other of ["xbc", "axc", "abx", "ab", "abcd", "", "ABC"]) assert.not(equal("abc", other), other);
  }
});

test("a bearer token is accepted when it is the current or the previous one, and no other", async () => {
  const ask = async (authorization: string | string[] | undefined, tokens: node.HmacSecrets = { current: SECRET }) =>
    codeFrom(await verifyBearer({ headers: { authorization }, body }, { ...quiet, tokens }));
  assert.is(await ask(`Bearer ${SECRET}`), "ok");
  assert.is(await ask(`bearer ${SECRET}`), "ok");
  assert.is(await ask(`Bearer ${OTHER}`, { current: SECRET, previous: OTHER }), "ok");
  const bad = [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    SECRET,
    `Basic ${SECRET}`,
    `Bearer ${OTHER}`,
    `Bearer ${SECRET}x`,
    `Bearer ${SECRET.slice(1)}`,
    `Bearer ${SECRET} x`,
  ];
  for (const one of bad) assert.is(await ask(one), "bearer_token_invalid", String(one));
  assert.is(await ask([`Bearer ${SECRET}`, `Bearer ${SECRET}`]), "bearer_token_invalid");
  const doubled = await verifyBearer(
    { headers: { authorization: `Bearer ${SECRET}` }, body: bytes('{"a":1,"a":1}') },
    { ...quiet, tokens: { current: SECRET } },
  );
  assert.is(codeFrom(doubled), "webhook_body_malformed");
});

test("weak secrets and tokens are refused, without being shown", async () => {
  const weak = [
    "",
    "short",
    "x".repeat(31),
    "x".repeat(64),
    "ab".repeat(20),
    "12345678".repeat(5),
    "0".repeat(32),
    "\u{1f600}".repeat(31),
    "abcabca".repeat(6),
  ];
  for (const secret of weak) {
    assert.is(await codeOf(() => signHmac(body, { ...quiet, secret })), "secret_weak", secret);
    assert.is(
      await codeOf(() => verifying({}, { secrets: { current: SECRET, previous: secret } })),
      "secret_weak",
      secret,
    );
    assert.is(
      await codeOf(() => verifyBearer({ headers: {}, body }, { ...quiet, tokens: { current: secret } })),
      "secret_weak",
    );
  }
  try {
    node.checkSecret("hunter2", "secrets.current");
    assert.unreachable();
  } catch (error) {
    assert.not.match((error as Error).message, "hunter2");
    assert.match((error as Error).message, "secrets.current");
  }
  for (const fine of [SECRET, "correct horse battery staple, and more", "1234567890".repeat(4)])
    node.checkSecret(fine, "x");
});

test("release 4.0 has none of it", async () => {
  for (const version of ["4.0.0", "4.1.2-beta.0", "10.0.0"]) {
    assert.is(await codeOf(() => signHmac(body, { ...quiet, secret: SECRET, version })), "legacy_auth_removed");
    assert.is(await codeOf(() => verifying({}, { version })), "legacy_auth_removed");
    assert.is(
      await codeOf(() => verifyBearer({ headers: {}, body }, { ...quiet, tokens: { current: SECRET }, version })),
      "legacy_auth_removed",
    );
  }
  assert.ok(await signHmac(body, { ...quiet, secret: SECRET, version: "3.99.0" }));
});

test("use is warned about, once by default", async () => {
  const told: string[] = [];
  const onDeprecated = (message: string) => told.push(message);
  for (let time = 0; time < 3; time++) await signHmac(body, { secret: SECRET, onDeprecated });
  assert.is(told.length, 1);
  assert.match(told[0]!, "deprecated");
  const warnings: Error[] = [];
  process.on("warning", (warning) => warnings.push(warning));
  for (let time = 0; time < 3; time++) {
    await verifyBearer({ headers: {}, body }, { tokens: { current: SECRET }, now });
  }
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(
    warnings.map(({ name, message }) => [name, message.split(" ")[0]]),
    [["DeprecationWarning", "Bearer"]],
  );
});

test.run();
