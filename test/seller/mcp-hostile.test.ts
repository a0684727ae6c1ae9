import { connect } from "node:net";
import * as fc from "fast-check";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { buyRequest } from "./fixture.js";
import { sellerSuite, tool } from "./mcp-suite.js";

const test = sellerSuite("a seller under attack");

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

test("a text that nobody can keep is refused at its place, before any handler", async ({ seller }) => {
  const base = { buying_mode: "brief", brief: "b" };
  for (const [args, field] of [
    [{ ...base, brief: "half \ud800" }, "brief"],
    [{ ...base, context: { deep: ["fine", "nul \0"] } }, "context.deep[1]"],
    [{ ...base, ext: { "\udc00": 1 } }, "ext"],
  ] as const) {
    const { payload, failed } = await seller.call({
      ...{ tool: "get_products", args, transport: "mcp", identity: { principal: "p" } },
    });
    assert.ok(failed);
    const [{ code, field: told }] = payload.errors as [{ code: string; field: string }];
    assert.equal([code, told], ["INVALID_REQUEST", field]);
  }
});

test("a number that no double holds is refused at its place, before any handler", async ({ seller, bench }) => {
  const order = JSON.stringify(buyRequest("prod_a", { ext: { limit: 0 } })).replace('"limit":0', '"limit":1e400');
  const asked = '{"buying_mode":"brief","brief":"b","context":{"deep":[-1e999]}}';
  for (const [name, args, field] of [
    ["create_media_buy", order, "ext.limit"],
    ["get_products", asked, "context.deep[0]"],
  ]) {
    const response = await seller.app.inject({
      method: "POST",
      url: "/mcp",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      payload: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`,
    });
    const [error] = response.json().result.structuredContent.errors;
    assert.equal([error.code, error.field], ["INVALID_REQUEST", field], response.body);
  }
  assert.is(bench.runs, 0);
});

test("two requests of a batch under one id are refused, and neither is done", async ({ seller, bench }) => {
  const params = (product: string) => ({ name: "create_media_buy", arguments: buyRequest(product) });
  const message = (id: number, product: string) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: params(product),
  });
  const sent = (...payload: object[]) =>
    seller.app.inject({
      ...{ method: "POST", url: "/mcp", payload },
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    });
  const refused = await sent(message(1, "prod_a"), message(1, "prod_b"));
  assert.is(refused.statusCode, 400);
  assert.match(refused.json().error.message, /an id of its own/);
  assert.is(bench.runs, 0);
  const answered = await sent(message(1, "prod_a"), message(2, "prod_b"));
  assert.equal([answered.json().length, bench.runs], [2, 2]);
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
