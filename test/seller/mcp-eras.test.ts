/** One URL for MCP clients of both eras: those that shake hands, and those whose every request says it all. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import * as assert from "uvu/assert";
import { buyRequest } from "./fixture.js";
import { sellerSuite } from "./mcp-suite.js";

const test = sellerSuite("mcp of both eras");

const VERSION = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
};

type Over = Readonly<Record<string, string | undefined>>;
type App = { inject(request: object): Promise<{ statusCode: number; body: string; json(): never }> };

/** One stateless request. `undefined` takes a header away. */
async function ask(seller: { app: unknown }, method: string, params: object = {}, over: Over = {}) {
  const name = (params as { name?: string }).name;
  const headers = {
    ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
    ...{ "mcp-protocol-version": VERSION, "mcp-method": method },
    ...(name !== undefined && { "mcp-name": name }),
    ...over,
  };
  const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  const payload = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta: meta, ...params } });
  const request = { method: "POST", url: "/mcp", headers: given, payload };
  const response = await (seller.app as App).inject(request);
  // biome-ignore lint/suspicious/noExplicitAny: answers of every kind
  return { status: response.statusCode, text: response.body, body: response.json() as any };
}

const brief = { buying_mode: "brief", brief: "runners" };

for (const [era, mode] of [
  ["2025-11-25", "legacy"],
  [VERSION, "auto"],
] as const) {
  test(`the official client agrees on ${era}, lists and calls`, async ({ seller }) => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${await seller.start()}/mcp`)));
    assert.is(client.getNegotiatedProtocolVersion(), era);
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === "create_media_buy"));
    const found = await client.callTool({ name: "get_products", arguments: brief });
    assert.is((found.structuredContent as { status: string }).status, "completed");
    const refused = await client.callTool({ name: "create_media_buy", arguments: buyRequest("prod_missing") });
    assert.is(refused.isError, true);
    await client.close();
  });
}

test("a stateless request that contradicts itself is refused with the protocol's codes", async ({ seller, bench }) => {
  const call = { name: "create_media_buy", arguments: buyRequest() };
  const wrong: [what: string, params: object, over: Over, status: number, code: number][] = [
    ["another tool in the header", call, { "mcp-name": "get_products" }, 400, -32020],
    ["another method in the header", call, { "mcp-method": "tools/list" }, 400, -32020],
    ["no name", call, { "mcp-name": undefined }, 400, -32020],
    ["two names", call, { "mcp-name": "create_media_buy, get_products" }, 400, -32020],
    ["no version in the header", call, { "mcp-protocol-version": undefined }, 400, -32020],
    ["no _meta", { ...call, _meta: undefined }, {}, 400, -32602],
    ["half a _meta", { ...call, _meta: { "io.modelcontextprotocol/protocolVersion": VERSION } }, {}, 400, -32602],
  ];
  for (const [what, params, over, status, code] of wrong) {
    const answer = await ask(seller, "tools/call", params, over);
    assert.equal([answer.status, answer.body.error?.code], [status, code], what);
  }
  assert.is(bench.runs, 0);
  const later = { ...meta, "io.modelcontextprotocol/protocolVersion": "2031-01-01" };
  const unknown = await ask(seller, "tools/list", { _meta: later }, { "mcp-protocol-version": "2031-01-01" });
  assert.equal([unknown.status, unknown.body.error.code], [400, -32022]);
  assert.equal(unknown.body.error.data, { supported: [VERSION], requested: "2031-01-01" });
  for (const method of ["prompts/list", "subscriptions/listen"]) {
    const none = await ask(seller, method);
    assert.equal([none.status, none.body.error.code], [404, -32601], method);
  }
});

test("what the server is may be kept, and a name that is no ASCII may stand in the header", async ({ seller }) => {
  const { body } = await ask(seller, "server/discover");
  const { supportedVersions, capabilities, ttlMs, cacheScope, resultType } = body.result;
  assert.equal([supportedVersions, capabilities], [[VERSION], { tools: {} }]);
  assert.equal([ttlMs > 0, cacheScope, resultType], [true, "private", "complete"]);
  const encoded = `=?base64?${Buffer.from("get_products").toString("base64")}?=`;
  const named = await ask(seller, "tools/call", { name: "get_products", arguments: brief }, { "mcp-name": encoded });
  assert.is(named.body.result.structuredContent.status, "completed");
});

test("the short way gives what the SDK gives to a stateless call", async ({ seller }) => {
  const calls: [string, object][] = [
    ["get_products", { ...brief, context: { é: "\u2028", n: 1e21, "": null } }],
    ["get_products", { buying_mode: "nonsense" }],
    ["create_media_buy", buyRequest("prod_missing")],
  ];
  for (const [name, args] of calls) {
    const short = await ask(seller, "tools/call", { name, arguments: args });
    // A member of `_meta` that is somebody's own is the SDK's to read.
    const more = { ...meta, "example.test/own": 1 };
    const long = await ask(seller, "tools/call", { name, arguments: args, _meta: more });
    assert.equal([short.status, short.text], [long.status, long.text]);
  }
});

test.run();
