/** Lists of tools that come in pages, from an agent on a real socket: all of it, or a word of why not. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";

interface Asked {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: { readonly cursor?: string };
}

type Pages = (page: number) => { readonly names: readonly string[]; readonly next: string | undefined };

/** An agent of the older era whose `tools/list` is what a test says of each page; none for silence. */
async function listedOf(pages: (page: number) => ReturnType<Pages> | undefined, timeoutMs = 5_000) {
  let asked = 0;
  const answerOf = ({ method, params }: Asked): JsonObject | undefined => {
    if (method === "initialize") {
      const serverInfo = { name: "agent", version: "1" };
      return { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
    }
    asked += 1;
    const page = pages(Number(params?.cursor ?? 0));
    const tools = page?.names.map((name) => ({ name, inputSchema: { type: "object" } }));
    return page && { tools: tools!, ...(page.next !== undefined && { nextCursor: page.next }) };
  };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const message = (body === "" ? { method: "" } : JSON.parse(body)) as Asked;
      const known = ["initialize", "tools/list"].includes(message.method);
      if (!known) return void response.writeHead(message.id === undefined ? 202 : 404).end();
      const result = answerOf(message);
      if (result === undefined) return;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const buyer = createBuyer({ release, agent: `http://127.0.0.1:${port}/mcp`, allowLocal: true, timeoutMs });
  const names = await buyer.listed().catch((error: Error) => error.message);
  server.closeAllConnections();
  server.close();
  await buyer.close();
  return { names, asked };
}

test("of ten thousand tools in a hundred pages every one is listed", async () => {
  const { names, asked } = await listedOf((page) => ({
    names: Array.from({ length: 100 }, (_, at) => `tool_${page}_${at}`),
    next: page === 99 ? undefined : String(page + 1),
  }));
  assert.equal([names.length, names.at(-1), asked], [10_000, "tool_99_99", 100]);
});

test("a list without an end is an error that says so, and not the beginning of it", async () => {
  const { names, asked } = await listedOf((page) => ({ names: [`tool_${page}`], next: String(page + 1) }));
  assert.match(String(names), /list of tools has more than 250 pages/);
  assert.is(asked, 250);
});

test("a list whose pages each come late has an end all the same", async () => {
  let at = 0;
  const began = performance.now();
  const slow = await listedOf((page) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
    at = page;
    return { names: [`tool_${page}`], next: String(page + 1) };
  }, 100);
  assert.match(String(slow.names), /list of tools takes too long/);
  assert.ok(at < 40 && performance.now() - began < 30_000);
});

test.run();
