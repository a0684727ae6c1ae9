/** The request profile: what it asks of components and keys, and which requests must not come unsigned. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type KeySource,
  memoryReplayStore,
  type RequestCapability,
  type RequestCode,
  requestCodes,
  type SignableRequest,
  type Step,
  verifyRequest,
  verifyRequestSync,
} from "../../runtime/signing/index.js";
import {
  bytes,
  forge,
  KID,
  makeKey,
  NOW,
  optionsFor,
  type SignedRequest,
  signed,
  signedCall,
  webhook,
  withHeaders,
} from "./fixtures.js";

const key = makeKey();
const call = (more: Partial<SignableRequest> = {}): SignableRequest =>
  webhook({ url: "https://seller.example.com/api/create_media_buy", ...more });
const good = signedCall(key, call());
const bare = signedCall(key, call(), { contentDigest: false });
const reached = new Set<string>();

function refuses(request: SignableRequest, code: RequestCode, step: Step, more: object = {}, used = key): void {
  const result = verifyRequestSync(request, { ...optionsFor(used), ...more });
  assert.ok(!result.ok, `accepted, expected ${code}`);
  assert.is(result.code, code, result.detail);
  assert.is(result.step, step);
  reached.add(code);
}

const accepts = (request: SignableRequest, capability: RequestCapability = {}, more: object = {}) => {
  const result = verifyRequestSync(request, { ...optionsFor(key), capability, ...more });
  assert.ok(result.ok, JSON.stringify(result));
  return result;
};

test("accepts what was signed, and says that it was", () => {
  for (const request of [good, bare]) {
    const result = accepts(request);
    assert.ok(result.signed);
    assert.is(result.keyid, KID);
    assert.equal(result.json, JSON.parse(new TextDecoder().decode(request.body)));
  }
});

test("requests without a body cover no content type", () => {
  const request = signedCall(key, call({ method: "GET", body: new Uint8Array() }));
  assert.equal(Object.keys(request.headers), ["Signature-Input", "Signature"]);
  const result = accepts(request);
  assert.ok(result.signed);
  assert.is(result.json, undefined);
  refuses({ ...request, body: bytes("{}") }, "request_signature_components_incomplete", 6);
});

test("bodies that are no JSON pass, by their media type", () => {
  const request = signedCall(key, call({ headers: { "content-type": "text/csv" }, body: bytes("a,b\n1,2") }));
  const result = accepts({ ...request, headers: { ...request.headers } });
  assert.ok(result.signed);
  assert.is(result.json, undefined);
});

test("the digest is covered as the capability says", () => {
  accepts(good, { covers_content_digest: "required" });
  accepts(good, { covers_content_digest: "either" });
  accepts(bare, { covers_content_digest: "forbidden" });
  const capability = (covers_content_digest: string) => ({ capability: { covers_content_digest } });
  refuses(bare, "request_signature_components_incomplete", 6, capability("required"));
  refuses(good, "request_signature_components_unexpected", 6, capability("forbidden"));
});

test("components may come in any order, with further fields, but not with derived ones we do not know", () => {
  const input = bare.headers["Signature-Input"]!.slice("sig1=".length);
  const variant = (components: string[], headers: Record<string, string> = {}) => {
    const list = input.replace(/\(.*\)/, `(${components.map((name) => `"${name}"`).join(" ")})`);
    const values: Record<string, string> = {
      "@method": "POST",
      "@target-uri": bare.url,
      "@authority": "seller.example.com",
      "content-type": "application/json",
      ...headers,
    };
    const base = [...components.map((name) => `"${name}": ${values[name]}`), `"@signature-params": ${list}`].join("\n");
    return forge(key, withHeaders(bare, headers), list, base);
  };
  accepts(variant(["content-type", "@authority", "@target-uri", "@method"]));
  accepts(variant(["@method", "@target-uri", "@authority", "content-type", "x-tenant"], { "x-tenant": "t1" }));
  const four = ["@method", "@target-uri", "@authority", "content-type"];
  refuses(variant([...four, "x-tenant"]), "request_signature_components_incomplete", 6);
  refuses(variant([...four, "x-tenant"], { "x-tenant": "a\tb" }), "request_signature_header_malformed", 1);
  for (const name of ["@query", "@path", "@status", "X-Tenant", "a b"]) {
    refuses(variant([...four, name], { [name]: "x" }), "request_signature_components_unexpected", 6);
  }
  refuses(variant([...four, "@method"]), "request_signature_header_malformed", 1);
  for (const left of four) {
    refuses(variant(four.filter((name) => name !== left)), "request_signature_components_incomplete", 6);
  }
});

test("a webhook's signature is no request's, nor a webhook key a request key", () => {
  refuses(signed(key, call()), "request_signature_tag_invalid", 3);
  const webhookKey = { ...key, jwk: { ...key.jwk, proto_use: "webhook-signing" } };
  refuses(good, "request_signature_key_purpose_invalid", 8, {}, webhookKey);
});

test("each other fault of a request has its code and step of the profile", () => {
  const input = good.headers["Signature-Input"]!;
  const changed = (from: RegExp, to: string): SignedRequest =>
    withHeaders(good, { "Signature-Input": input.replace(from, to) });
  const answers = (answer: object): { keys: KeySource } => ({ keys: { resolve: () => answer as never } });
  refuses(changed(/;nonce="[^"]*"/, ""), "request_signature_params_incomplete", 2);
  refuses(changed(/alg="[^"]*"/, 'alg="rsa-v1_5-sha256"'), "request_signature_alg_not_allowed", 4);
  refuses(good, "request_signature_window_invalid", 5, { now: () => NOW + 1000 });
  refuses(changed(/keyid="[^"]*"/, 'keyid="x"'), "request_signature_key_unknown", 7);
  refuses(good, "request_signature_jwks_untrusted", 7, answers({ ok: false, code: "untrusted" }));
  refuses(good, "request_signature_jwks_unavailable", 7, answers({ ok: false, code: "unavailable" }));
  refuses(good, "request_signature_key_revoked", 9, { revocation: { check: () => "revoked" } });
  refuses(good, "request_signature_revocation_stale", 9, { revocation: { check: () => "stale" } });
  refuses(good, "request_signature_rate_abuse", "9a", { replay: { atCap: () => true, insert: () => "inserted" } });
  refuses({ ...good, url: "https:///p" }, "request_target_uri_malformed", 10);
  refuses({ ...good, url: `${good.url}/x` }, "request_signature_invalid", 10);
  refuses({ ...good, body: bytes("{}") }, "request_signature_digest_mismatch", 11);
  const replay = memoryReplayStore();
  accepts(good, {}, { replay });
  refuses(good, "request_signature_replayed", 12, { replay });
  refuses({ ...bare, body: bytes('{"a":1,"a":2}') }, "request_body_malformed", 14);
});

const unsigned = (more: Partial<SignableRequest> = {}): SignableRequest =>
  call({ headers: { "content-type": "application/json" }, ...more });
const required = {
  capability: { required_for: ["create_media_buy"], protocol_methods_required_for: ["tasks/cancel"] },
};
const rpc = (method: string, params: object) =>
  unsigned({
    url: "https://seller.example.com/mcp",
    body: bytes(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })),
  });

test("an unsigned request passes where nothing asks for a signature", () => {
  const result = accepts(unsigned());
  assert.equal(result, { ok: true, signed: false });
  accepts(unsigned({ url: "https://seller.example.com/api/get_products" }), required.capability);
  accepts(unsigned(), required.capability, { operation: "get_products" });
  accepts(rpc("tools/call", { name: "get_products" }), required.capability);
  accepts(rpc("tasks/get", {}), required.capability);
  accepts(unsigned({ body: bytes("not json") }));
  accepts(unsigned({ body: bytes('{"push_notification_config":{"url":"https://b.example/x"}}') }));
  accepts(unsigned({ body: bytes('{"push_notification_config":{"authentication":{}}}') }));
});

test("an operation that must be signed is refused unsigned", () => {
  const code = "request_signature_required";
  refuses(unsigned(), code, 0, required);
  refuses(unsigned({ url: "https://seller.example.com/api/create_media_buy/?x=/y#z" }), code, 0, required);
  refuses(unsigned({ url: "https://seller.example.com/mcp" }), code, 0, { ...required, operation: "create_media_buy" });
  refuses(rpc("tools/call", { name: "create_media_buy" }), code, 0, required);
  refuses(
    rpc("message/send", { message: { parts: [{ kind: "text" }, { data: { skill: "create_media_buy" } }] } }),
    code,
    0,
    required,
  );
  refuses(rpc("tasks/cancel", { taskId: "t" }), code, 0, required);
});

test("webhook credentials are not registered unsigned, wherever they hide", () => {
  const authentication = { schemes: ["Bearer"], credentials: "x" };
  const bodies = [
    { push_notification_config: { url: "u", authentication } },
    { configuration: { pushNotificationConfig: { authentication } } },
    { packages: [{ a: [{ push_notification_config: { authentication } }] }] },
    { push_notification_config: { push_notification_config: { authentication } } },
    { push_notification_config: { authentication: "x" } },
  ].map((body) => JSON.stringify(body));
  const hidden = '{"push_notification_config":{"authentication":{"schemes":[]}},"push_notification_config":{}}';
  for (const body of [...bodies, hidden, `${"[".repeat(300)}${"]".repeat(300)}`]) {
    refuses(unsigned({ body: bytes(body) }), "request_signature_required", 0);
  }
});

test("half a signature is never taken for none", async () => {
  for (const name of ["Signature", "Signature-Input"] as const) {
    refuses(withHeaders(good, { [name]: undefined }), "request_signature_header_malformed", 1);
    refuses(withHeaders(good, { [name]: "" }), "request_signature_header_malformed", 1);
  }
  const result = await verifyRequest(withHeaders(good, { "Signature-Input": "junk" }), optionsFor(key));
  assert.is(result.ok, false);
});

test("every code of the request profile was reached", () => {
  assert.equal([...reached].sort(), Object.keys(requestCodes).sort());
});

test.run();
