/** The 3.2 request profile, operations that must be exactly one, and sources that answer what nobody declared. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type KeySource,
  type ReplayStore,
  type RequestRules,
  type RevocationSource,
  resolveBody,
  signRequestSync,
  verifyRequestSync,
  verifyWebhookSync,
} from "../../runtime/signing/index.js";
import { bytes, KID, makeKey, NOW, optionsFor, signed, webhook } from "./fixtures.js";

const rules: RequestRules = { profile: "3.2", nonAsciiHost: "target_uri_malformed", operations: "one" };
const body = bytes(
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_media_buy","arguments":{}}}',
);
const call = { method: "POST", url: "https://seller.example.com/mcp", headers: {}, body };

for (const curve of ["ed25519", "P-256"] as const) {
  test(`3.2 ${curve}: what is signed in padded standard base64 is taken, by its own profile and by the older one`, () => {
    const key = makeKey(curve);
    for (const made of [call, { ...call, method: "GET", body: bytes("") }]) {
      const { headers } = signRequestSync(made, { key: key.privateKey, keyid: KID, now: () => NOW, profile: "3.2" });
      assert.match(headers.Signature, /^sig1=:[A-Za-z0-9+/]{86}==:$/);
      if (made.body.length > 0) assert.match(headers["Content-Digest"]!, /^sha-256=:[A-Za-z0-9+/]{43}=:$/);
      for (const more of [{ rules: { ...rules, operations: "named" } as const }, {}]) {
        const result = verifyRequestSync({ ...made, headers: { ...headers } }, { ...optionsFor(key), ...more });
        assert.ok(result.ok && result.signed, JSON.stringify(result));
      }
    }
  });
}

test("3.2 refuses the older spelling, and a body whose digest is not covered; its signer makes neither", () => {
  const key = makeKey();
  const sign = (more: object) => signRequestSync(call, { key: key.privateKey, keyid: KID, now: () => NOW, ...more });
  const verified = (headers: object) =>
    verifyRequestSync({ ...call, headers: { ...headers } }, { ...optionsFor(key), rules });
  const old = verified(sign({}).headers);
  assert.is(!old.ok && old.code, "request_signature_header_malformed");
  const { headers } = sign({ contentDigest: false });
  const token = /:(.*):/.exec(headers.Signature)![1]!;
  const Signature = `sig1=:${Buffer.from(token, "base64url").toString("base64")}:`;
  const uncovered = verified({ ...headers, Signature });
  assert.is(!uncovered.ok && uncovered.code, "request_signature_components_incomplete");
  assert.throws(() => sign({ profile: "3.2", contentDigest: false }), /contentDigest/);
});

test("a signature that holds does not save a body without one operation", () => {
  const key = makeKey();
  const part = { data: { skill: "create_media_buy", input: {} } };
  const two = bytes(
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: { parts: [part, part] } } }),
  );
  const made = { ...call, body: two };
  const { headers } = signRequestSync(made, { key: key.privateKey, keyid: KID, now: () => NOW, profile: "3.2" });
  const result = verifyRequestSync({ ...made, headers: { ...headers } }, { ...optionsFor(key), rules });
  assert.equal(!result.ok && [result.code, result.step, result.status], ["request_body_malformed", 0, 401]);
});

test("whatever stands around it, an invocation is one and unambiguous, or it is none", () => {
  const noise = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
  const part = fc.oneof(
    noise,
    noise.map((data) => ({ data })),
    fc.constantFrom("create_media_buy", "get_products", "", 7).map((skill) => ({ data: { skill, input: {} } })),
    fc.constant({ text: "please" }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
      const request = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: { parts } } };
      const resolved = resolveBody(request, "https://seller.example/a2a", "json-rpc");
      if (!resolved.ok) return;
      const data = parts.flatMap((one) => ("data" in one ? [one.data] : [])) as { skill?: unknown }[];
      assert.is(data.length, 1);
      assert.is(resolved.invocation?.operation, data[0]!.skill);
      assert.is(typeof data[0]!.skill === "string" && data[0]!.skill !== "", true);
    }),
  );
});

test("a JSON-RPC endpoint takes nothing without its envelope", () => {
  const url = "https://seller.example/mcp";
  for (const strange of [{}, { method: "tools/call" }, { message: { parts: [] } }, [], null, "x", 1]) {
    assert.is(resolveBody(strange, url, "json-rpc").ok, false, JSON.stringify(strange));
  }
  assert.equal(resolveBody({ jsonrpc: "2.0", method: "tasks/get", params: {} }, url, "json-rpc"), {
    ok: true,
    method: "tasks/get",
    invocation: null,
  });
});

test("sources that answer something undeclared fail closed", () => {
  const key = makeKey();
  const request = signed(key, webhook());
  const options = optionsFor(key);
  const judged = (more: object): string => {
    const result = verifyWebhookSync(request, { ...options, ...more });
    return result.ok ? "taken" : `${result.code} ${result.status}`;
  };
  for (const answer of [undefined, null, "OK", "weird", 1, true, "toString"]) {
    const shown = String(answer);
    const inserts = { atCap: () => false, insert: () => answer } as unknown as ReplayStore;
    assert.is(judged({ replay: inserts }), "replay_unavailable 503", shown);
    const revocation = { check: () => answer } as unknown as RevocationSource;
    assert.is(judged({ revocation }), "revocation_unavailable 503", shown);
    const keys = { resolve: () => answer } as unknown as KeySource;
    assert.is(judged({ keys }), "keys_unavailable 503", shown);
    const coded = { resolve: () => ({ ok: false, code: answer }) } as unknown as KeySource;
    assert.is(judged({ keys: coded }), "keys_unavailable 503", shown);
    if (answer === true) continue;
    const caps = { atCap: () => answer, insert: () => "inserted" } as unknown as ReplayStore;
    assert.is(judged({ replay: caps }), "replay_unavailable 503", shown);
    const checks = { atCap: () => false, check: () => answer, insert: () => "inserted" } as unknown as ReplayStore;
    assert.is(judged({ replay: checks }), "replay_unavailable 503", shown);
  }
  const nameless = { resolve: () => ({ ok: true, key: { jwk: key.jwk }, sender: "" }) } as unknown as KeySource;
  assert.is(judged({ keys: nameless }), "keys_unavailable 503");
  assert.is(judged({}), "taken");
});

test.run();
