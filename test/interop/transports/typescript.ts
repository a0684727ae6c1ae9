/** The official TypeScript packages of both lines: clients before our seller, and servers for our buyer. */
import { createServer, type Server as HttpServer, type RequestListener } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { AgentCard, Task } from "@a2a-js/sdk";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { AgentEvent, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { startAgent } from "../../support/agent.js";
import { requests, TOKEN } from "./seller.js";

export type Step = readonly [name: string, run: () => Promise<string | undefined>];

const headers = { authorization: `Bearer ${TOKEN}` };
const brief = { buying_mode: "brief", brief: "runners" };
const wrong = (good: boolean, what: unknown): string | undefined =>
  good ? undefined : (JSON.stringify(what) ?? String(what)).slice(0, 300);

/** What the clients of both lines have in common. */
interface McpClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<{ [key: string]: unknown }>;
  close(): Promise<void>;
}

export function mcpClientSteps(url: string, kind: "mcp-1" | "mcp-auto" | "mcp-legacy"): Step[] {
  let client: McpClient;
  const open = async (init: object): Promise<{ client: McpClient; version: string | undefined }> => {
    const place = new URL(`${url}/mcp`);
    if (kind === "mcp-1") {
      const old = new OldClient({ name: "interop", version: "1" });
      const transport = new OldTransport(place, { requestInit: init });
      await old.connect(transport as never);
      return { client: old as never, version: transport.protocolVersion };
    }
    const mode = kind === "mcp-auto" ? "auto" : "legacy";
    const made = new NewClient({ name: "interop", version: "1" }, { versionNegotiation: { mode } });
    await made.connect(new NewTransport(place, { requestInit: init }));
    return { client: made as never, version: made.getNegotiatedProtocolVersion() };
  };
  return [
    [
      "challenge",
      () =>
        open({}).then(
          () => "a client without credentials was let in",
          () => undefined,
        ),
    ],
    [
      "version",
      async () => {
        const opened = await open({ headers });
        ({ client } = opened);
        return wrong(opened.version === (kind === "mcp-auto" ? "2026-07-28" : "2025-11-25"), opened.version);
      },
    ],
    [
      "list",
      async () => {
        const { tools } = await client.listTools();
        return wrong(
          tools.some(({ name }) => name === "create_media_buy"),
          tools,
        );
      },
    ],
    [
      "call",
      async () => {
        const { structuredContent } = await client.callTool({ name: "get_products", arguments: brief });
        return wrong((structuredContent as { status: string }).status === "completed", structuredContent);
      },
    ],
    [
      "refused",
      async () => {
        const result = await client.callTool({ name: "create_media_buy", arguments: requests().missing });
        await client.close();
        return wrong(result.isError === true && JSON.stringify(result).includes("PRODUCT_NOT_FOUND"), result);
      },
    ],
  ];
}

export function a2aClientSteps(url: string, version: "1.0" | "0.3"): Step[] {
  const fetchImpl: typeof fetch = (input, init) =>
    fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers } });
  const open = async () => {
    const legacyCompat = { enabled: version === "0.3" };
    const resolver = new DefaultAgentCardResolver({ fetchImpl, legacyCompat });
    const card = await resolver.resolve(url, undefined);
    const supportedInterfaces = card.supportedInterfaces.filter((one) => one.protocolVersion === version);
    const transports = [new JsonRpcTransportFactory({ fetchImpl, legacyCompat })];
    return new ClientFactory({ transports }).createFromAgentCard({ ...card, supportedInterfaces });
  };
  const message = (content: object) =>
    ({ message: { messageId: crypto.randomUUID(), role: 1, parts: [{ content }] } }) as never;
  const data = (skill: string, parameters: object) => message({ $case: "data", value: { skill, parameters } });
  const both: Step[] = [
    [
      "call",
      async () => {
        const answer = JSON.stringify(await (await open()).sendMessage(data("get_products", brief)));
        return wrong(answer.includes("prod_ctv_evening"), answer);
      },
    ],
    [
      "stream",
      async () => {
        const kinds: unknown[] = [];
        for await (const { payload } of (await open()).sendMessageStream(data("create_media_buy", requests().later)))
          kinds.push(payload?.$case);
        return wrong(kinds[0] === "task" && kinds.at(-1) === "statusUpdate" && kinds.length >= 3, kinds);
      },
    ],
    [
      "words",
      async () =>
        (await open()).sendMessage(message({ $case: "text", value: "Buy me something." })).then(
          () => "words were taken for a call",
          (error: Error) => wrong(error.message.includes("create_media_buy"), error.message),
        ),
    ],
  ];
  const cancel: Step = [
    "cancel",
    async () => {
      const client = await open();
      const answer = (await client.sendMessage(data("create_media_buy", requests().manual))) as never as {
        id?: string;
        payload?: { value: { id: string } };
      };
      const id = answer.id ?? answer.payload?.value.id ?? "";
      const found = await client.getTask({ id } as never);
      return client.cancelTask({ id } as never).then(
        () => "a task with work under way was canceled",
        (error: Error) => wrong(found.id === id && /cancel/i.test(error.message), error.message),
      );
    },
  ];
  return [...both, cancel];
}

/** A server of the 2.x line for both eras; one of the 1.x line is what tests of the buyer use. */
export async function startMcpServer(kind: "mcp-1" | "mcp-2", answers: Readonly<Record<string, object>>) {
  if (kind === "mcp-1") {
    const tools = [...Object.keys(answers), "list_accounts"];
    const away = { payload: { errors: [{ code: "AWAY", message: "away" }] } as never, isError: true };
    const { mcp, close } = await startAgent({
      tools,
      answer: ({ tool }) => (tool in answers ? { payload: answers[tool] as never } : away),
    });
    return { url: mcp, close };
  }
  const handler = createMcpHandler(() => {
    const server = new Server({ name: "peer", version: "1" }, { capabilities: { tools: {} } });
    const names = [...Object.keys(answers), "list_accounts"];
    const inputSchema = { type: "object" as const };
    server.setRequestHandler("tools/list", () => ({ tools: names.map((name) => ({ name, inputSchema })) }));
    server.setRequestHandler("tools/call", ({ params: { name } }) => {
      const structuredContent = answers[name] as Record<string, unknown> | undefined;
      if (structuredContent === undefined) return { content: [{ type: "text", text: "away" }], isError: true };
      return { content: [], structuredContent };
    });
    return server;
  });
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = chunks.length === 0 ? undefined : Buffer.concat(chunks);
    const init = { method: request.method ?? "GET", headers: request.headers as Record<string, string> };
    const answer = await handler.fetch(new Request("http://peer.invalid/mcp", { ...init, ...(body && { body }) }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  const { origin, close } = await opened(http);
  return { url: `${origin}/mcp`, close };
}

async function opened(http: HttpServer) {
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      http.closeAllConnections();
      http.close();
    },
  };
}

/** A server of the 1.x line, whose card offers one version of the protocol. */
export async function startA2aServer(version: "1.0" | "0.3", answers: Readonly<Record<string, object>>) {
  // What the package's handlers are mounted in; installed with the other web frameworks that are judged.
  const express = createRequire(new URL("../frameworks/package.json", import.meta.url))("express");
  const app = express() as RequestListener & { use(path: string, handler: unknown): void };
  const { origin, close } = await opened(createServer(app));
  const names = [...Object.keys(answers), "list_accounts"];
  const card = AgentCard.fromJSON({
    ...{ name: "peer", description: "peer", version: "1", capabilities: {} },
    supportedInterfaces: [{ url: `${origin}/a2a`, protocolBinding: "JSONRPC", protocolVersion: version }],
    ...{ defaultInputModes: ["application/json"], defaultOutputModes: ["application/json"] },
    skills: names.map((name) => ({ id: name, name, description: name, tags: ["tool"] })),
  });
  const legacyCompat = { enabled: version === "0.3" };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), answering(answers));
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }));
  app.use("/a2a", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat }));
  return { url: origin, close };
}

/** Ends each call's task with its answer, or fails it with errors. */
const answering = (answers: Readonly<Record<string, object>>): AgentExecutor => ({
  async execute({ taskId, contextId, userMessage }, bus) {
    const [part] = userMessage.parts;
    const { skill } = (part?.content?.value ?? {}) as { skill: string };
    const answer = answers[skill];
    const data = answer ?? { errors: [{ code: "AWAY", message: "away" }] };
    const status = { state: answer === undefined ? "TASK_STATE_FAILED" : "TASK_STATE_COMPLETED" };
    const artifacts = [{ artifactId: "answer", parts: [{ data }] }];
    bus.publish(AgentEvent.task(Task.fromJSON({ id: taskId, contextId, status, artifacts })));
    bus.finished();
  },
  cancelTask: () => Promise.reject(new Error("nothing here can be canceled")),
});
