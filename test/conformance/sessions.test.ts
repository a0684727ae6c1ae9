/** Agents that let a session go in the midst of a run, as one that is started anew does: MCP has their clients begin another. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openMcpSession } from "../../runtime/conformance/agent/mcp.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { AGENT, smallAgent } from "./small-agent.js";

interface Served {
  /** Sessions that it knows. */
  readonly known: Set<string>;
  begun: number;
  /** Calls that came to a tool. */
  calls: number;
}

type Refusal = (id: unknown) => Response;

const rpc = (status: number, id: unknown, error: JsonObject): Response =>
  Response.json({ jsonrpc: "2.0", id, error }, { status });

async function withAgent(
  { lost, tool }: { readonly lost: Refusal; readonly tool?: Refusal },
  work: (session: Awaited<ReturnType<typeof openMcpSession>>, served: Served) => Promise<void>,
): Promise<void> {
  const served: Served = { known: new Set(), begun: 0, calls: 0 };
  const small = smallAgent({ get_products: () => ({ status: "completed", products: [] }) });
  const fetch: typeof globalThis.fetch = async (url, init) => {
    if (init?.method !== "POST") return new Response(null, { status: 200 });
    const { id, method } = JSON.parse(String(init.body)) as JsonObject;
    if (method === "initialize") {
      const session = `session-${++served.begun}`;
      served.known.add(session);
      const begun = await small(url, init);
      return new Response(begun.body, { headers: { "content-type": "application/json", "mcp-session-id": session } });
    }
    if (!served.known.has(new Headers(init.headers).get("mcp-session-id") ?? "")) return lost(id);
    if (method === "tools/call") {
      served.calls += 1;
      if (tool !== undefined) return tool(id);
    }
    return small(url, init);
  };
  const options = { url: AGENT, fetch, timeoutMs: 5_000, uuid: crypto.randomUUID, now: Date.now };
  const session = await openMcpSession(options);
  try {
    await work(session, served);
  } finally {
    await session.close();
  }
}

const refusals: Readonly<Record<string, Refusal>> = {
  "404": () => rpc(404, null, { code: -32001, message: "Session not found" }),
  "400": () => rpc(400, null, { code: -32000, message: "Bad Request: No valid session ID provided" }),
  "404 without a word": () => new Response(null, { status: 404 }),
};

for (const [how, lost] of Object.entries(refusals))
  test(`${how}: what a session that was let go was not asked is asked in a new one`, () =>
    withAgent({ lost }, async (session, served) => {
      served.known.clear();
      const answers = await Promise.all([1, 2, 3].map(() => session.call("get_products", {})));
      assert.equal(
        answers.map(({ status, failed }) => [status, failed]),
        Array(3).fill([200, false]),
        JSON.stringify(answers[0]),
      );
      served.known.clear();
      assert.ok((await session.tools()).includes("get_products"));
      assert.equal([served.begun, served.calls], [3, 3], "steps side by side share a session, and none is made twice");
    }));

test("an agent that lets every session go at once fails the step, and is not asked on and on", () =>
  withAgent({ lost: refusals["404"]! }, async (session, served) => {
    served.known.clear();
    served.known.add = () => served.known;
    const { status, failed } = await session.call("get_products", {});
    assert.equal([status, failed, served.calls, served.begun], [404, true, 0, 2]);
  }));

test("a refusal that is the tool's own is what the step is graded by, and is asked for once", () =>
  withAgent(
    {
      lost: refusals["404"]!,
      tool: (id) => rpc(404, id, { code: -32602, message: "no", data: { proto_error: { code: "PRODUCT_NOT_FOUND" } } }),
    },
    async (session, served) => {
      const { status } = await session.call("get_products", {});
      assert.equal([status, served.calls, served.begun], [404, 1, 1]);
    },
  ));

test.run();
