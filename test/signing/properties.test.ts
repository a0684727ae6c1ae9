/** What holds for every request: signing then verifying, changing one byte, and junk. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  memoryReplayStore,
  type SignableRequest,
  signWebhook,
  verifyHmac,
  verifyRequest,
  verifyWebhook,
  verifyWebhookSync,
} from "../../runtime/signing/index.js";
import { bytes, KID, makeKey, optionsFor, signed } from "./fixtures.js";

const keys = { ed25519: makeKey(), es256: makeKey("P-256") };

const url = fc
  .tuple(
    fc.constantFrom("https", "http", "HTTPS"),
    fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc.ipV6().map((ip) => `[${ip}]`),
    ),
    fc.option(fc.nat(65_535), { nil: undefined }),
    fc.array(fc.oneof(fc.webSegment(), fc.constantFrom(".", "..", "", "%7e", "%2f", "%e2%98%83")), { maxLength: 4 }),
    fc.option(fc.webQueryParameters(), { nil: undefined }),
  )
  .map(
    ([scheme, host, port, segments, query]) =>
      `${scheme}://${host}${port === undefined ? "" : `:${port}`}${segments.map((one) => `/${one}`).join("")}${query === undefined ? "" : `?${query}`}`,
  );

const request = fc.record({
  method: fc.constantFrom("POST", "PUT", "post"),
  url,
  body: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })).map((value) => bytes(JSON.stringify(value))),
});

test("what is signed verifies, and not twice", async () => {
  const options = fc.record({
    name: fc.constantFrom("ed25519" as const, "es256" as const),
    at: fc.integer({ min: 1, max: 4_000_000_000 }),
    windowSeconds: fc.integer({ min: 1, max: 300 }),
    word: fc.stringMatching(/^[a-z]{2,8}$/),
  });
  await fc.assert(
    fc.asyncProperty(request, options, async (made, { name, at, windowSeconds, word }) => {
      const key = keys[name];
      const now = () => at;
      const plain: SignableRequest = { ...made, headers: {} };
      const { headers } = await signWebhook(plain, { key: key.privateKey, keyid: KID, now, windowSeconds, word });
      const sent: SignableRequest = { ...plain, headers: { ...headers } };
      const published = { ...key, jwk: { ...key.jwk, proto_use: undefined, [`${word}_use`]: "request-signing" } };
      const shared = optionsFor(published as never, { now, word });
      const first = await verifyWebhook(sent, shared);
      assert.ok(first.ok, JSON.stringify(first));
      const second = await verifyWebhook(sent, shared);
      assert.is(second.ok ? "" : second.code, "webhook_signature_replayed");
    }),
    { numRuns: 300 },
  );
});

const good = signed(keys.ed25519);
const fields = ["Content-Type", "Content-Digest", "Signature-Input", "Signature"] as const;

/** Writes another byte over one byte of a text. */
const overwrite = (text: string, place: number, by: number): string => {
  const at = place % text.length;
  const code = (text.charCodeAt(at) + 1 + (by % 254)) & 0xff;
  return text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
};

const oneAlphabet = (text: string): string => text.replaceAll("-", "+").replaceAll("_", "/");

test("one byte of a signed field changed is refused", () => {
  fc.assert(
    fc.property(fc.constantFrom(...fields), fc.nat(), fc.nat(), (name, place, by) => {
      const value = overwrite(good.headers[name]!, place, by);
      // White space around a value is no part of it, and a signature may be written in either alphabet of base64.
      fc.pre(oneAlphabet(value.trim()) !== oneAlphabet(good.headers[name]!));
      const result = verifyWebhookSync(
        { ...good, headers: { ...good.headers, [name]: value } },
        optionsFor(keys.ed25519),
      );
      assert.is(result.ok, false, value);
    }),
    { numRuns: 5000 },
  );
});

test("one byte of the target or the method changed is refused, unless it names the same target", () => {
  const canonicalOf = (result: unknown) => (result as { signatureBase?: string }).signatureBase;
  const base = canonicalOf(verifyWebhookSync(good, optionsFor(keys.ed25519)));
  fc.assert(
    fc.property(fc.constantFrom("url" as const, "method" as const), fc.nat(), fc.nat(), (part, place, by) => {
      const result = verifyWebhookSync({ ...good, [part]: overwrite(good[part], place, by) }, optionsFor(keys.ed25519));
      if (result.ok) assert.is(result.signatureBase, base);
    }),
    { numRuns: 5000 },
  );
});

test("one byte of the body changed, added or left out is refused", () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      fc.constantFrom("change", "add", "drop"),
      (place, by, how) => {
        const at = place % good.body.length;
        const body = [...good.body];
        if (how === "change") body[at] = (body[at]! + by) & 0xff;
        else body.splice(at, how === "drop" ? 1 : 0, ...(how === "add" ? [by] : []));
        const result = verifyWebhookSync({ ...good, body: Uint8Array.from(body) }, optionsFor(keys.ed25519));
        assert.is(result.ok ? "" : result.code, "webhook_signature_digest_mismatch");
      },
    ),
    { numRuns: 2000 },
  );
});

const junk = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constantFrom(...Object.values(good.headers)));
const names = fc.oneof(
  fc.constantFrom(...fields, "host", "authorization", "x-proto-signature", "x-proto-timestamp"),
  fc.string(),
);
const anyRequest = fc.record({
  method: junk,
  url: fc.oneof(url, junk),
  headers: fc.dictionary(names, fc.oneof(junk, fc.array(junk, { maxLength: 3 }))),
  body: fc.uint8Array(),
});

test("verifying is an answer and never throws, whatever is signed", async () => {
  const secrets = { current: "0c8fbd0c5a2e49e1b7f30a6d5e1c9a4f" };
  await fc.assert(
    fc.asyncProperty(anyRequest, async (any) => {
      const shared = optionsFor(keys.ed25519);
      await verifyWebhook(any, shared);
      await verifyWebhook({ ...any, headers: { ...good.headers, ...any.headers } }, shared);
      await verifyRequest(any, shared);
      await verifyHmac(any, { secrets, onDeprecated: () => undefined });
    }),
    { numRuns: 2000 },
  );
});

test("the store in memory holds no more than its cap, whatever the key", () => {
  const store = memoryReplayStore({ totalCap: 3 });
  const outcomes = ["a", "b", "c", "d"].map((keyid) => store.insert(keyid, "nonce", 10, 0));
  assert.equal(outcomes, ["inserted", "inserted", "inserted", "full"]);
  assert.is(store.insert("a", "nonce", 10, 10), "seen");
  assert.is(store.insert("d", "nonce", 20, 11), "inserted");
  assert.is(store.size, 1);
});

test("the store in memory agrees with a plain table", () => {
  const call = fc.record({
    keyid: fc.constantFrom("a", "b", "c"),
    nonce: fc.nat(12),
    life: fc.integer({ min: 0, max: 5 }),
    wait: fc.nat(3),
  });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 60 }), (calls) => {
      const store = memoryReplayStore({ perKeyCap: 4, totalCap: 8 });
      let table: { keyid: string; nonce: string; expiresAt: number }[] = [];
      let now = 0;
      for (const { keyid, nonce: number, life, wait } of calls) {
        now += wait;
        table = table.filter(({ expiresAt }) => expiresAt >= now);
        const nonce = `nonce-${number}`;
        const ofKey = table.filter((one) => one.keyid === keyid);
        assert.is(store.atCap(keyid, now), ofKey.length >= 4);
        const expected = ofKey.some((one) => one.nonce === nonce)
          ? "seen"
          : ofKey.length >= 4 || table.length >= 8
            ? "full"
            : "inserted";
        assert.is(store.insert(keyid, nonce, now + life, now), expected);
        if (expected === "inserted") table.push({ keyid, nonce, expiresAt: now + life });
        assert.is(store.size, table.length);
      }
    }),
    { numRuns: 500 },
  );
});

test.run();
