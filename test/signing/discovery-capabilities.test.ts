/** What an agent says of its identity, asked over MCP without a client: every shape an answer comes in, and none taken on trust. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { FetchResult, GuardedRequest } from "../../runtime/net/index.js";
import { askIdentity, brandKeys } from "../../runtime/signing/discovery/index.js";
import { AGENT, BRAND, codeOf, JWKS, key, web } from "./discovery-site.js";

const identity = { brand_json_url: BRAND, key_origins: { webhook_signing: "https://agent.seller.example.com" } };
const expected = { brandUrl: identity.brand_json_url, keyOrigins: identity.key_origins };

interface Served {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Record<string, string>;
  readonly text: string;
}

const result = (value: object): Served => ({ text: JSON.stringify({ jsonrpc: "2.0", id: 1, result: value }) });

function agent(answer: (message: { method: string; params?: { name?: string } }, sent: GuardedRequest) => Served) {
  const requests: GuardedRequest[] = [];
  const fetch = async (url: string, request: GuardedRequest = {}): Promise<FetchResult> => {
    requests.push(request);
    const {
      status = 200,
      type = "application/json",
      headers,
      text,
    } = answer(JSON.parse(String(request.body)), request);
    const body = new TextEncoder().encode(text);
    return { ok: true, status, headers: { "content-type": type, ...headers }, body, truncated: false, url };
  };
  return { requests, ask: askIdentity({ agentUrl: AGENT, fetch, word: "acme" }) };
}

const failed = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => "it is taken",
    (error: Error) => error.message,
  );

test("capabilities are read structured, as text and as an event stream", async () => {
  const told = result({ structuredContent: { identity } });
  const { ask, requests } = agent(({ method, params }) => {
    assert.equal([method, params?.name], ["tools/call", "get_acme_capabilities"]);
    return told;
  });
  assert.equal(await ask(), expected);
  assert.equal([requests.length, requests[0]?.method, requests[0]?.maxBytes], [1, "POST", 65_536]);
  const text = result({ content: [{ type: "text", text: JSON.stringify({ identity }) }] });
  assert.equal(await agent(() => text).ask(), expected);
  const stream = `event: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\r\n\r\ndata: ${told.text}\r\n\r\n`;
  assert.equal(await agent(() => ({ text: stream, type: "text/event-stream" })).ask(), expected);
  assert.equal(await agent(() => result({ structuredContent: {} })).ask(), {});
});

test("a server that keeps sessions is asked in one", async () => {
  const { ask, requests } = agent(({ method }, { headers }) => {
    if (method === "initialize") return { ...result({}), headers: { "mcp-session-id": "s1" } };
    if (headers?.["mcp-session-id"] !== "s1") return { text: "no session", status: 400 };
    return method === "tools/call" ? result({ structuredContent: { identity } }) : { text: "", status: 202 };
  });
  assert.equal(await ask(), expected);
  assert.is(requests.length, 4);
});

test("anything else is an outage, and a wrong type is no absence", async () => {
  for (const served of [
    { text: "down", status: 503 },
    { text: "not JSON" },
    { text: '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}' },
    result({ isError: true, structuredContent: { identity } }),
    result({ content: [{ type: "text", text: '{"identity":{},"identity":{}}' }] }),
  ] satisfies Served[]) {
    assert.is.not(await failed(agent(() => served).ask()), "it is taken", served.text);
  }
  const site = web({ [BRAND]: { agents: [{ type: "sales", id: "a", url: AGENT }] }, [JWKS]: { keys: [key("a")] } });
  const found = async (url: unknown): Promise<string> => {
    const { ask } = agent(() => result({ structuredContent: { identity: { brand_json_url: url } } }));
    return codeOf(await brandKeys({ agentUrl: AGENT, fetch: site.fetch, now: site.now, declared: ask }).resolve("a"));
  };
  assert.equal([await found(BRAND), await found(undefined), await found(7)], ["ok", "ok", "untrusted"]);
});

test.run();
