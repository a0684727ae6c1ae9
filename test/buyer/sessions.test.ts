/** Agents over MCP that let a session go, as each does that is started anew: what was not asked is asked in another one, and calls beside it go on. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { Failure, JsonObject } from "../../runtime/contract/index.js";
import { until } from "../support/until.js";
import { capabilities, order, withScene } from "./fixtures.js";

interface Message {
  readonly id?: unknown;
  readonly method: string;
  readonly params: { readonly name: string; readonly protocolVersion: string };
}

interface Agent {
  readonly sessions: Set<string>;
  /** Keys of the orders that came to the tool. */
  readonly orders: string[];
  /** Sessions begun so far. */
  begun: number;
  /** Sessions that the caller has ended. */
  readonly ended: unknown[];
  /** Says nothing more. */
  silent?: boolean;
  /** Whether it is too busy to begin one. */
  busy: boolean;
  /** Openings whose caller hung up before the answer. */
  abandoned: number;
  /** Before it begins one. */
  beginning?: () => Promise<unknown>;
}

/** What a request in no session the agent knows is answered with. */
type Refusal = (id: unknown) => { readonly status: number; readonly body: unknown };

async function withAgent(
  { lost, tool }: { readonly lost: Refusal; readonly tool?: Refusal },
  work: (buyer: ReturnType<typeof createBuyer<typeof release>>, agent: Agent) => Promise<void>,
): Promise<void> {
  const agent: Agent = { sessions: new Set(), orders: [], begun: 0, ended: [], busy: false, abandoned: 0 };
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const say = (status: number, body: unknown, headers = {}): void =>
      void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    if (request.method === "DELETE") agent.ended.push(request.headers["mcp-session-id"]);
    if (agent.silent) return;
    if (request.method !== "POST") return say(405, {});
    const { id, method, params } = JSON.parse(text) as Message;
    const reply = (result: JsonObject, headers = {}): void => say(200, { jsonrpc: "2.0", id, result }, headers);
    if (agent.busy && method === "initialize") return say(429, {});
    if (method === "initialize") {
      response.on("close", () => {
        if (!response.writableEnded) agent.abandoned += 1;
      });
      await agent.beginning?.();
      const session = `session-${++agent.begun}`;
      agent.sessions.add(session);
      const { protocolVersion } = params;
      return reply(
        { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "agent", version: "1" } },
        { "mcp-session-id": session },
      );
    }
    if (method === "server/discover") return say(404, { jsonrpc: "2.0", id, error: { code: -32601, message: "no" } });
    if (!agent.sessions.has(String(request.headers["mcp-session-id"]))) {
      const { status, body } = lost(id);
      return say(status, body);
    }
    if (method !== "tools/call") return say(202, {});
    if (params.name.endsWith("capabilities")) return reply({ content: [], structuredContent: capabilities() });
    agent.orders.push(
      (JSON.parse(text) as { params: { arguments: { idempotency_key: string } } }).params.arguments.idempotency_key,
    );
    if (tool !== undefined) return say(tool(id).status, tool(id).body);
    reply({ content: [], structuredContent: { status: "completed", media_buy_id: "mb-1", packages: [] } });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const buyer = createBuyer({ release, agent: url, allowLocal: true, retry: { attempts: 1 } });
  try {
    await work(buyer, agent);
  } finally {
    // What the agent holds back would hold the buyer's end, too.
    server.closeAllConnections();
    await buyer.close();
    server.closeAllConnections();
    server.close();
  }
}

const rpc = (code: number, message: string, id: unknown): JsonObject =>
  ({ jsonrpc: "2.0", id, error: { code, message } }) as JsonObject;

/** As MCP has it, and as the servers of two SDKs have answered for long. */
const refusals: Readonly<Record<string, Refusal>> = {
  "404": () => ({ status: 404, body: rpc(-32001, "Session not found", null) }),
  "400": () => ({ status: 400, body: rpc(-32000, "Bad Request: No valid session ID provided", null) }),
  "404 of the request": (id) => ({ status: 404, body: rpc(-32600, "Session not found", id) }),
};

for (const [how, lost] of Object.entries(refusals))
  test(`${how}: a call in a session that its agent has let go is made in a new one`, () =>
    withAgent({ lost }, async (buyer, agent) => {
      await buyer.tools.create_media_buy(order);
      for (const begun of [2, 3]) {
        agent.sessions.clear();
        const calls = await Promise.all([1, 2, 3].map(() => buyer.tools.create_media_buy(order)));
        assert.equal(
          calls.map(({ answer }) => answer.status),
          ["completed", "completed", "completed"],
          JSON.stringify(calls[0]?.answer),
        );
        assert.is(agent.begun, begun, "calls side by side share the new one");
      }
      assert.is(new Set(agent.orders).size, 7);
      assert.is(agent.orders.length, 7, "none is made twice");
    }));

test("an agent that lets every session go at once is told of, and not asked on and on", () =>
  withAgent({ lost: refusals["404"]! }, async (buyer, agent) => {
    await buyer.tools.create_media_buy(order);
    agent.sessions.add = () => agent.sessions;
    agent.sessions.clear();
    const { answer } = await buyer.tools.create_media_buy(order);
    assert.is(answer.status, "failed");
    assert.ok(agent.begun <= 3, `${agent.begun} sessions`);
  }));

test("a buyer that is closed ends its session, and waits for no agent that says nothing to it", async () => {
  for (const silent of [false, true])
    await withAgent({ lost: refusals["404"]! }, async (buyer, agent) => {
      await buyer.tools.create_media_buy(order);
      agent.silent = silent;
      const began = performance.now();
      await buyer.close();
      assert.equal(agent.ended, ["session-1"]);
      assert.ok(performance.now() - began < 10_000, "it waited for the call's own time");
    });
});

test("a new session that could not begin is begun by the next call", () =>
  withAgent({ lost: refusals["404"]! }, async (buyer, agent) => {
    await buyer.tools.create_media_buy(order);
    agent.sessions.clear();
    agent.busy = true;
    for (const _ of [1, 2]) assert.is((await buyer.tools.create_media_buy(order)).answer.status, "failed");
    agent.busy = false;
    const { answer } = await buyer.tools.create_media_buy(order);
    assert.is(answer.status, "completed", JSON.stringify(answer));
    assert.equal([agent.begun, agent.orders.length], [2, 2]);
  }));

/** Has the agent keep who begins a session waiting: told when one has come, and to let it go on. */
function heldOpen(agent: Agent): readonly [reached: PromiseWithResolvers<void>, opens: PromiseWithResolvers<void>] {
  const [reached, opens] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  agent.beginning = () => {
    reached.resolve();
    return opens.promise;
  };
  return [reached, opens];
}

test("who gives up while a connection is opened takes it from nobody who waits for it too", () =>
  withAgent({ lost: refusals["404"]! }, async (buyer, agent) => {
    const [reached, opens] = heldOpen(agent);
    const hasty = new AbortController();
    const first = buyer.tools.create_media_buy(order, { signal: hasty.signal });
    await reached.promise;
    const second = buyer.tools.create_media_buy(order);
    await new Promise((later) => setImmediate(later));
    hasty.abort();
    assert.is((await first).answer.status, "failed");
    opens.resolve();
    const { answer } = await second;
    assert.is(answer.status, "completed", JSON.stringify(answer));
    assert.is(agent.begun, 1);
  }));

test("who calls while the last one gives up has nothing of that", async () => {
  // Whatever the second call is at by then.
  for (let steps = 0; steps < 12; steps++)
    await withAgent({ lost: refusals["404"]! }, async (buyer, agent) => {
      const [reached, opens] = heldOpen(agent);
      const hasty = new AbortController();
      const first = buyer.tools.create_media_buy(order, { signal: hasty.signal });
      await reached.promise;
      const second = buyer.tools.create_media_buy(order);
      for (let step = 0; step < steps; step++) await undefined;
      hasty.abort();
      opens.resolve();
      await first;
      const { answer } = await second;
      assert.is(answer.status, "completed", `${steps}: ${JSON.stringify(answer)}`);
    });
});

test("an opening that nobody waits for any more is ended", () =>
  withAgent({ lost: refusals["404"]! }, async (buyer, agent) => {
    const reached = Promise.withResolvers<void>();
    agent.beginning = () => {
      reached.resolve();
      return new Promise(() => undefined);
    };
    const hasty = new AbortController();
    const calls = [1, 2].map(() => buyer.tools.create_media_buy(order, { signal: hasty.signal }));
    await reached.promise;
    hasty.abort();
    await Promise.all(calls);
    // Its own time is longer than this waits: without an end it would hold the agent till then.
    await until(() => agent.abandoned === 1, "the agent is hung up on", { limitMs: 10_000 });
    await buyer.close();
  }));

test("a request that its tool refuses is asked once, in whatever session", () =>
  withAgent(
    { lost: refusals["404"]!, tool: (id) => ({ status: 400, body: rpc(-32602, "no such account", id) }) },
    async (buyer, agent) => {
      const { answer } = await buyer.tools.create_media_buy(order);
      assert.equal([answer.status, agent.orders.length, agent.begun], ["failed", 1, 1]);
    },
  ));

test("an answer that is lost loses no other: a call beside it has its own", () => {
  let dropped = (): void => {};
  const first = new Promise<void>((resolve) => (dropped = resolve));
  return withScene(
    {
      declares: capabilities({}, { idempotency: { supported: false } }),
      answer: async ({ tool }) => {
        if (tool === "get_products") {
          dropped();
          return { drop: true };
        }
        await first;
        await new Promise((later) => setTimeout(later, 300));
        return { payload: { status: "completed", media_buy_id: "mb-1", packages: [] } };
      },
    },
    async ({ buyer, calls }) => {
      await buyer.negotiate();
      const [ordered] = await Promise.all([
        buyer.tools.create_media_buy(order),
        buyer.tools.get_products({ buying_mode: "brief", brief: "sports" }),
      ]);
      assert.is(ordered.answer.status, "completed", JSON.stringify(ordered.answer));
      assert.is(calls().filter(({ tool }) => tool === "create_media_buy").length, 1);
    },
  );
});

test("a call waits no longer than its own time for a connection that another one opens", async () => {
  let reached = (): void => {};
  const opening = new Promise<void>((resolve) => (reached = resolve));
  const server = createServer(() => reached());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const agent = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const buyer = createBuyer({ release, agent, allowLocal: true, timeoutMs: 60_000, retry: { attempts: 1 } });
  const patient = new AbortController();
  const first = buyer.tools.create_media_buy(order, { signal: patient.signal });
  await opening;
  const began = performance.now();
  const { answer, attempts } = await buyer.tools.create_media_buy(order, { deadlineMs: 50 });
  assert.equal([(answer.data as Failure).errors[0]?.code, attempts], ["DEADLINE_EXCEEDED", 0]);
  patient.abort();
  assert.is((await first).answer.status, "failed");
  assert.ok(performance.now() - began < 30_000, "nobody waits for the other's time");
  server.closeAllConnections();
  await buyer.close();
  server.close();
});

test.run();
