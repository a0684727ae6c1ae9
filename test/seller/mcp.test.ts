/** The seller over MCP: what stands around a call, and what must never get through. */
import { generateKeyPairSync } from "node:crypto";
import { connect } from "node:net";
import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import * as fc from "fast-check";
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from "jose";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { release as release30 } from "../../generated/3.0.0/index.js";
import { release } from "../../generated/3.1.0/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { createSeller, jwtAuth, type Seller, signatureAuth, tokenAuth } from "../../runtime/seller/index.js";
import { signRequestSync, staticKeys } from "../../runtime/signing/index.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { tempFolder } from "../support/release.js";
import { type Bench, buyRequest, mcp, newBench, openSeller, sellerOptions } from "./fixture.js";

interface Context {
  store: SqliteStore;
  bench: Bench;
  seller: Seller<never>;
}

const test = suite<Context>("seller over mcp");
const folder = tempFolder();
let count = 0;

test.before.each(async (context) => {
  count += 1;
  context.store = openSqliteStore({ path: path.join(folder, `${count}.db`) });
  context.bench = newBench();
  context.seller = await openSeller(context.bench, { store: context.store });
});
test.after.each(async ({ seller, store }) => {
  await seller.close();
  await store.close();
});

const tool = (seller: Seller<never>, name: string, args: unknown, headers: Record<string, string> = {}) =>
  mcp(seller, "tools/call", { name, arguments: args }, headers);

/** Opens another seller on the test's store, and closes it. */
async function with_(context: Context, more: object, use: (seller: Seller<never>) => Promise<void>): Promise<void> {
  const seller = await openSeller<never>(context.bench, { store: context.store, ...more });
  try {
    await use(seller);
  } finally {
    await seller.close();
  }
}

test("the SDK's client lists tools with self-contained schemas and calls one", async ({ seller }) => {
  const address = await seller.start();
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/mcp`)) as never);
  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }) => name === "get_agent_capabilities"));
  const listing = JSON.stringify(tools);
  for (const [, reference] of listing.matchAll(/"\$ref":"([^"]+)"/g)) assert.match(reference!, /^#/);
  const buy = tools.find(({ name }) => name === "create_media_buy");
  assert.ok(buy?.inputSchema.properties && "idempotency_key" in buy.inputSchema.properties);
  // biome-ignore lint/suspicious/noExplicitAny: the tool's own answer
  const answer: any = await client.callTool({
    name: "get_products",
    arguments: { buying_mode: "brief", brief: "runners", context: { trace: "t" } },
  });
  assert.is(answer.structuredContent.status, "completed");
  assert.equal(answer.structuredContent.context, { trace: "t" });
  assert.equal(JSON.parse(answer.content[0].text), answer.structuredContent);
  assert.is(answer.isError, undefined);
  await client.close();
});

test("a bad request is an answer with pointers, on both layers of the envelope", async ({ seller, bench }) => {
  const request = { ...buyRequest(), packages: [{ product_id: "p", budget: -5 }], context: { trace: "bad" } };
  const { status, body } = await tool(seller, "create_media_buy", request);
  assert.is(status, 200);
  assert.is(body.result.isError, true);
  const { proto_error: error, errors, context } = body.result.structuredContent;
  assert.is(error.code, "INVALID_REQUEST");
  assert.is(error.recovery, "correctable");
  assert.ok(error.issues.some((one: { pointer: string }) => one.pointer === "/packages/0/budget"));
  assert.match(error.field, /^packages\[0\]\./);
  assert.equal(errors[0], error);
  assert.equal(context, { trace: "bad" });
  const { idempotency_key: _key, ...keyless } = buyRequest();
  const missing = await tool(seller, "create_media_buy", keyless);
  assert.is(missing.body.result.structuredContent.proto_error.field, "idempotency_key");
  assert.is(bench.runs, 0);
});

test("what a handler lets slip out stays here", async (context) => {
  const broken = await tool(context.seller, "create_media_buy", buyRequest("prod_broken"));
  assert.match(JSON.stringify(broken.body), /hunter2/, "development shows why");
  await with_(context, { mode: "production" }, async (seller) => {
    const hidden = await tool(seller, "create_media_buy", buyRequest("prod_broken"));
    assert.not.match(JSON.stringify(hidden.body), /hunter2/);
    assert.is(hidden.body.result.structuredContent.proto_error.code, "SERVICE_UNAVAILABLE");
  });
});

test("an answer the release refuses is refused in development and reported in production", async (context) => {
  const wrong = await tool(context.seller, "create_media_buy", buyRequest("prod_wrong"));
  assert.is(wrong.body.result.structuredContent.proto_error.code, "INVALID_ANSWER");
  const reports: unknown[] = [];
  const options = { mode: "production", onInvalidAnswer: (report: unknown) => void reports.push(report) };
  await with_(context, options, async (seller) => {
    const passed = await tool(seller, "create_media_buy", buyRequest("prod_wrong"));
    assert.is(passed.body.result.structuredContent.media_buy_id, 7);
    assert.is(reports.length, 1);
  });
});

test("capabilities are what is registered, under both names", async ({ seller }) => {
  const { body } = await tool(seller, "get_agent_capabilities", { context: { a: 1 } });
  const other = await tool(seller, "get_proto_capabilities", { context: { a: 1 } });
  const said = body.result.structuredContent;
  assert.equal(other.body.result.structuredContent, said);
  assert.equal(said.proto.major_versions, [3]);
  assert.equal(said.proto.supported_versions, ["3.1"]);
  assert.equal(said.proto.idempotency, { supported: true, replay_ttl_seconds: 86_400 });
  assert.equal(said.specialisms, ["sales-guaranteed"]);
  assert.equal(said.supported_protocols, ["media_buy"]);
  assert.equal(said.webhook_signing, { supported: false });
});

test("a caller's release is spoken where it can be, and else refused by name", async (context) => {
  await with_(context, { releases: [release30] }, async (seller) => {
    const ask = (pin: object) => tool(seller, "get_agent_capabilities", pin).then(({ body }) => body.result);
    const old = await ask({ proto_version: "3.0" });
    assert.is(old.structuredContent.proto_version, "3.0");
    assert.is((await ask({ proto_version: "3.1.0" })).structuredContent.proto_version, "3.1");
    assert.is((await ask({ proto_major_version: 3 })).structuredContent.status, "completed");
    assert.equal(old.structuredContent.proto.supported_versions, ["3.1", "3.0"]);
    for (const pin of [{ proto_version: "4.0" }, { proto_major_version: 9 }, { proto_version: "nonsense" }]) {
      const { proto_error: error } = (await ask({ ...pin, context: { v: 1 } })).structuredContent;
      assert.is(error.code, "VERSION_UNSUPPORTED");
      assert.equal(error.details.supported_versions, ["3.1", "3.0"]);
    }
  });
});

test("unknown tools are named, and those the release has are answered with a code", async ({ seller }) => {
  const unknown = await tool(seller, "drop_tables", {});
  assert.is(unknown.body.error.code, -32602);
  assert.is(unknown.body.error.data.proto_error.code, "UNSUPPORTED_FEATURE");
  const lacking = await tool(seller, "get_signals", { context: { a: 1 } });
  assert.is(lacking.body.result.structuredContent.proto_error.code, "UNSUPPORTED_FEATURE");
  assert.equal(lacking.body.result.structuredContent.context, { a: 1 });
});

const bodies: readonly [what: string, payload: string | Buffer, status: number][] = [
  [
    "2 MB",
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { fill: "x".repeat(2_000_000) } }),
    413,
  ],
  ["deep nesting", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, 400],
  [
    "deep arguments",
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'{"a":'.repeat(200)}1${"}".repeat(200)}}`,
    400,
  ],
  ["a doubled key", '{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"tools/list"}', 400],
  ["no JSON", "{nonsense", 400],
  ["not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400],
  ["nothing", "", 400],
  ["a text", '"hello"', 400],
  ["null", "null", 400],
];

test("hostile bodies get a clear error, and the next call is answered", async ({ seller }) => {
  for (const [what, payload, status] of bodies) {
    const response = await seller.app.inject({
      method: "POST",
      url: "/mcp",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      payload,
    });
    assert.is(response.statusCode, status, what);
    assert.ok(response.json().error.message.length > 0, what);
  }
  const form = await seller.app.inject({
    method: "POST",
    url: "/mcp",
    payload: "a=b",
    headers: { "content-type": "text/plain" },
  });
  assert.is(form.statusCode, 415);
  assert.is((await seller.app.inject({ method: "GET", url: "/mcp" })).statusCode, 405);
  assert.is((await tool(seller, "get_agent_capabilities", {})).status, 200);
});

test("members named __proto__ are data and nothing else", async ({ seller }) => {
  const args =
    '{"buying_mode":"brief","brief":"b","__proto__":{"polluted":1},"context":{"__proto__":{"polluted":2},"a":1}}';
  const response = await seller.app.inject({
    method: "POST",
    url: "/mcp",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    payload: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_products","arguments":${args}}}`,
  });
  assert.match(response.body, /"context":\{"__proto__":\{"polluted":2\},"a":1\}/);
  assert.is(({} as { polluted?: number }).polluted, undefined);
});

test("whatever the arguments are, there is an answer", async ({ seller }) => {
  const names = fc.constantFrom(...Object.keys(release.tools), "", "constructor", "__proto__", "toString");
  await fc.assert(
    fc.asyncProperty(names, fc.jsonValue({ depthSize: "small" }), async (name, args) => {
      const { status, body } = await tool(seller, name, args);
      assert.ok(status === 200 || status === 400, `${status}`);
      assert.ok(body.error !== undefined || body.result !== undefined);
    }),
    { numRuns: 150, seed: 7 },
  );
});

test("callers without good credentials are told which they need", async (context) => {
  await with_(context, { auth: tokenAuth({ tokens: { "key-of-buyer-1": "buyer-1" } }) }, async (seller) => {
    const open = await tool(seller, "get_agent_capabilities", {});
    assert.is(open.status, 200);
    const missing = await tool(seller, "get_products", {});
    assert.is(missing.status, 401);
    assert.is(missing.headers["www-authenticate"], 'Bearer realm="https://seller.example/mcp"');
    assert.is(missing.body.error.data.proto_error.code, "AUTH_MISSING");
    const bad = await tool(seller, "get_products", {}, { authorization: "Bearer nonsense" });
    assert.match(String(bad.headers["www-authenticate"]), /error="invalid_token"/);
    assert.is(bad.body.error.data.proto_error.code, "AUTH_INVALID");
    const brief = { buying_mode: "brief", brief: "b" };
    assert.is((await tool(seller, "get_products", brief, { authorization: "Bearer key-of-buyer-1" })).status, 200);
    assert.is((await tool(seller, "get_products", brief, { "x-api-key": "key-of-buyer-1" })).status, 200);
  });
});

test("tokens of an issuer are taken for their audience, and the issuer is named", async (context) => {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA");
  const jwk = { ...(await exportJWK(publicKey)), kid: "i1", alg: "EdDSA" };
  const audience = "https://seller.example/mcp";
  const auth = jwtAuth({
    issuer: "https://login.example",
    audience,
    keys: createLocalJWKSet({ keys: [jwk] }),
    scopes: ["buy"],
  });
  const token = (over: { aud?: string; scope?: string; exp?: string } = {}) =>
    new SignJWT({ scope: over.scope ?? "buy", client_id: "buyer-9" })
      .setProtectedHeader({ alg: "EdDSA", kid: "i1" })
      .setIssuer("https://login.example")
      .setAudience(over.aud ?? audience)
      .setExpirationTime(over.exp ?? "5m")
      .sign(privateKey);
  await with_(context, { auth }, async (seller) => {
    const brief = { buying_mode: "brief", brief: "b" };
    const status = async (bearer: string) =>
      (await tool(seller, "get_products", brief, { authorization: `Bearer ${bearer}` })).status;
    assert.is(await status(await token()), 200);
    assert.is(await status(await token({ aud: "https://login.example" })), 401);
    assert.is(await status(await token({ scope: "read" })), 401);
    assert.is(await status(await token({ exp: "-5m" })), 401);
    assert.is(await status(`${(await token()).slice(0, -4)}AAAA`), 401);
    const { headers } = await tool(seller, "get_products", brief);
    const metadata = /resource_metadata="([^"]+)"/.exec(String(headers["www-authenticate"]))?.[1];
    const { pathname } = new URL(metadata!);
    const document = (await seller.app.inject(pathname)).json();
    assert.equal([document.resource, document.authorization_servers], [audience, ["https://login.example"]]);
  });
});

test("signed requests are verified, and required where the capabilities say so", async (context) => {
  const pair = generateKeyPairSync("ed25519");
  const jwk = {
    ...pair.publicKey.export({ format: "jwk" }),
    kid: "b1",
    use: "sig",
    key_ops: ["verify"],
    alg: "EdDSA",
    proto_use: "request-signing",
  };
  const requestSigning = {
    keys: staticKeys([jwk as never], { sender: "https://buyer.example/agent" }),
    required_for: ["create_media_buy"],
  };
  await with_(context, { requestSigning, auth: signatureAuth() }, async (seller) => {
    const said = (await tool(seller, "get_agent_capabilities", {})).body.result.structuredContent;
    assert.equal(said.request_signing.required_for, ["create_media_buy"]);
    const payload = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "create_media_buy", arguments: buyRequest() },
    });
    const url = "https://seller.example/mcp";
    const signed = () =>
      signRequestSync(
        {
          method: "POST",
          url,
          headers: { "content-type": "application/json" },
          body: new TextEncoder().encode(payload),
        },
        { key: pair.privateKey, keyid: "b1" },
      ).headers as unknown as Record<string, string>;
    const send = async (headers: Record<string, string>, body = payload) =>
      seller.app.inject({
        method: "POST",
        url: "/mcp",
        headers: { host: "seller.example", "content-type": "application/json", accept: "application/json", ...headers },
        payload: body,
      });
    const unsigned = await send({});
    assert.is(unsigned.statusCode, 401);
    assert.is(unsigned.headers["www-authenticate"], 'Signature error="request_signature_required"');
    const good = signed();
    const taken = await send(good);
    assert.is(taken.json().result.structuredContent.status, "completed");
    assert.match(String((await send(good)).headers["www-authenticate"]), /replayed/);
    const changed = await send(signed(), payload.replace("prod_ctv_evening", "prod_later_today"));
    assert.is(changed.statusCode, 401);
  });
});

test("a principal that calls too often is told how long to wait", async (context) => {
  await with_(context, { limits: { calls: { reads: 3, writes: 2 } } }, async (seller) => {
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) statuses.push((await tool(seller, "get_agent_capabilities", {})).status);
    assert.equal(statuses, [200, 200, 200, 429, 429]);
    const { headers, body } = await tool(seller, "get_agent_capabilities", {});
    assert.ok(Number(headers["retry-after"]) >= 1);
    assert.is(body.error.code, -32029);
    assert.is(body.error.data.proto_error.code, "RATE_LIMITED");
    assert.is((await tool(seller, "create_media_buy", buyRequest())).status, 200, "writes are counted apart");
  });
});

test("pages of other origins may not call", async (context) => {
  await with_(context, { origins: ["https://console.example"] }, async (seller) => {
    const from = async (origin: string) => (await tool(seller, "get_agent_capabilities", {}, { origin })).status;
    assert.is(await from("https://evil.example"), 403);
    assert.is(await from("https://seller.example"), 200);
    assert.is(await from("https://console.example"), 200);
  });
});

test("the short way gives what the SDK gives", async ({ seller }) => {
  const calls: [string, object][] = [
    ["get_products", { buying_mode: "brief", brief: "b", context: { é: "\u2028", n: 1e21, "": null } }],
    ["get_products", { buying_mode: "nonsense" }],
    ["get_agent_capabilities", {}],
    ["get_signals", { context: { a: [] } }],
    ["create_media_buy", buyRequest("prod_missing")],
  ];
  const post = async (params: object) =>
    seller.app.inject({
      method: "POST",
      url: "/mcp",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      payload: JSON.stringify({ jsonrpc: "2.0", id: "x", method: "tools/call", params }),
    });
  for (const [name, args] of calls) {
    const short = await post({ name, arguments: args });
    // Metadata of a call is the SDK's to read.
    const long = await post({ name, arguments: args, _meta: {} });
    assert.is(short.body, long.body);
    assert.is(short.statusCode, long.statusCode);
    assert.match(String(short.headers["content-type"]), /^application\/json/);
  }
});

test("calls, failures and replays are counted by tools that are served", async (context) => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  await with_(context, { meter: provider.getMeter("test") }, async (seller) => {
    await tool(seller, "create_media_buy", buyRequest());
    await tool(seller, "create_media_buy", buyRequest());
    await tool(seller, "create_media_buy", buyRequest("prod_poor"));
    await tool(seller, "get_signals", {});
    await reader.forceFlush();
  });
  const found = new Map<string, unknown>();
  for (const { metrics } of exporter.getMetrics().at(-1)!.scopeMetrics) {
    for (const { descriptor, dataPoints } of metrics) {
      for (const { attributes, value } of dataPoints) {
        const labels = Object.values(attributes).join(" ");
        if (typeof value === "number") found.set(`${descriptor.name.replace("adbind.seller.", "")} ${labels}`, value);
      }
    }
  }
  assert.equal(Object.fromEntries(found), {
    "calls create_media_buy mcp completed": 2,
    "calls create_media_buy mcp failed": 1,
    "calls unknown mcp failed": 1,
    "failures create_media_buy HOUSE_RULE": 1,
    "failures unknown UNSUPPORTED_FEATURE": 1,
    "replays create_media_buy": 1,
  });
  await provider.shutdown();
});

test("who it is can be read by whoever verifies what it signs", async (context) => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = privateKey.export({ format: "jwk" });
  await with_(context, { signing: { key, keyid: "s1" } }, async (seller) => {
    const brand = (await seller.app.inject("/.well-known/brand.json")).json();
    const entry = brand.agents.find((one: { url: string }) => one.url === "https://seller.example/mcp");
    assert.is(entry.jwks_uri, "https://seller.example/.well-known/jwks.json");
    const { keys } = (await seller.app.inject("/.well-known/jwks.json")).json();
    assert.is(keys[0].proto_use, "request-signing");
    assert.is(keys[0].d, undefined);
    assert.not.match(JSON.stringify(keys), new RegExp(String(key.d)));
  });
});

test("options that cannot work are refused before anything is served", async ({ store, bench }) => {
  const good = sellerOptions(bench);
  const { create_media_buy: _buy, ...less } = good.tools;
  const bad: [what: string, over: object][] = [
    ["a missing entry point", { tools: less }],
    ["an unknown tool", { tools: { ...good.tools, drop_tables: () => undefined } }],
    ["an unknown specialism", { specialisms: ["sales_of_everything"] }],
    ["a base URL with a query", { baseUrl: "https://seller.example/?a" }],
    ["http in production", { baseUrl: "http://seller.example", mode: "production" }],
    ["a replay window of a minute", { replayTtlSeconds: 60 }],
    ["capabilities the release refuses", { capabilities: { supported_protocols: ["carrots"] } }],
    ["one release twice", { releases: [{ ...release30 }, { ...release30 }] }],
    ["a key that signs nothing", { signing: { key: { kty: "oct", k: "AA" }, keyid: "k" } }],
  ];
  for (const [what, over] of bad) {
    const outcome = await createSeller({ ...good, store, ...over } as never).then(
      () => "made",
      (error: unknown) => (error instanceof AdbindError ? error.code : String(error)),
    );
    assert.is(outcome, "seller_option_invalid", what);
  }
});

test("a slow client and one that goes away leave the server as it was", async ({ seller }) => {
  const address = await seller.start();
  const { port } = new URL(address);
  const socket = connect(Number(port), "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write("POST /mcp HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{");
  socket.destroy();
  assert.is((await tool(seller, "get_agent_capabilities", {})).status, 200);
});

test.run();
