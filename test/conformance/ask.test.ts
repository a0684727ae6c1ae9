/** What an agent says of itself before a run: the releases it speaks, whatever its protocol is called. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { supportedVersions } from "../../runtime/conformance/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { startAgent } from "../support/agent.js";
import { codeOf } from "../support/thrown.js";

async function listed(tool: string, payload: JsonObject): Promise<readonly string[]> {
  const agent = await startAgent({ tools: ["get_products", tool], answer: () => ({ payload }) });
  try {
    return await supportedVersions({ url: agent.mcp });
  } finally {
    await agent.close();
  }
}

test("versions are read by the protocol's word, also where the tool's name is without it", async () => {
  const block = { major_versions: [3], supported_versions: ["3.1", "3.0"] };
  assert.equal(await listed("get_word_capabilities", { word: block, media_buy: {} }), ["3.1", "3.0"]);
  assert.equal(await listed("get_agent_capabilities", { word: block, media_buy: {} }), ["3.1", "3.0"]);
});

test("major versions stand for their first line where nothing else is listed", async () => {
  assert.equal(await listed("get_agent_capabilities", { word: { major_versions: [3] } }), ["3.0"]);
  assert.equal(await listed("get_agent_capabilities", { media_buy: {} }), []);
});

test("the session in which an agent is asked is ended, also where it answers nothing of use", async () => {
  const ended: unknown[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    if (request.method === "DELETE") ended.push(request.headers["mcp-session-id"]);
    if (request.method !== "POST") return void response.writeHead(200).end();
    const { id, method, params } = JSON.parse(text) as { id?: number; method: string; params: JsonObject };
    const begun = {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "a", version: "1" },
    };
    const said = method === "initialize" ? { result: begun } : { error: { code: -32603, message: "no" } };
    response.writeHead(id === undefined ? 202 : 200, { "content-type": "application/json", "mcp-session-id": "s-1" });
    response.end(id === undefined ? undefined : JSON.stringify({ jsonrpc: "2.0", id, ...said }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  assert.is(await codeOf(() => supportedVersions({ url })), "agent_unreachable");
  assert.equal(ended, ["s-1"]);
  server.closeAllConnections();
  server.close();
});

test.run();
